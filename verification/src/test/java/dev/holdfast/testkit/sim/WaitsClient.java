package dev.holdfast.testkit.sim;

import dev.holdfast.engine.deadlock.DeadlockDetector;
import dev.holdfast.engine.deadlock.SearchPass;
import dev.holdfast.engine.deadlock.SearchSchedule;
import dev.holdfast.engine.deadlock.SearchedClient.Reader;
import dev.holdfast.testkit.sim.WaitsStore.Claim;
import dev.holdfast.testkit.sim.WaitsThread.Hold;
import dev.holdfast.testkit.sim.WaitsThread.Wait;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A client of a {@link WaitsRun}: the engine's search, above a small model of its local tier and its session. */
final class WaitsClient implements SearchSchedule.Steps<Wait> {

    private static final long MILLI = 1_000_000;
    private static final long STORE_TIMEOUT = 1_000 * MILLI;

    /** A name in this client. */
    private static final class Local {
        final List<Wait> queue = new ArrayList<>();
        final List<Hold> holds = new ArrayList<>();

        @Nullable
        Claim grant;

        @Nullable
        Claim queued;

        boolean isAwaited;
    }

    final WaitsRun run;
    final SimProcess process;
    final List<WaitsThread> threads = new ArrayList<>();
    private final SeededRandom random;
    private final List<Local> locals = new ArrayList<>();
    private final Map<Wait, Consumer<@Nullable Hold>> ends = new LinkedHashMap<>();
    private final DeadlockDetector detector;
    private final SearchSchedule<Wait> schedule;
    final boolean mayFail;
    private final Set<Claim> annotated = new LinkedHashSet<>();
    private final List<Wait> nested = new ArrayList<>();
    private List<Wait> searched = List.of();
    private long claims;
    private long cutUntil;
    private long newestSent;
    private long newestPushed;
    private long deadline;
    private long renewals;

    WaitsClient(WaitsRun run, SimProcess process, SeededRandom random, boolean mayFail) {
        this.run = run;
        this.process = process;
        this.random = random;
        this.mayFail = mayFail;
        for (int i = 0; i < run.names; i++) {
            locals.add(new Local());
        }
        this.detector = new DeadlockDetector(run.rules, random::next, run.ttl);
        this.schedule = new SearchSchedule<>(
                new SimEnvironment(run.world, process, process.clock(), random.fork(), 200_000), this);
        this.deadline = run.world.now() + run.ttl;
        renew();
    }

    String name() {
        return process.name();
    }

    WaitsStore store() {
        return run.store;
    }

    void after(long delay, Runnable what) {
        process.after(delay, what);
    }

    // ---- The network

    void cut(long nanos) {
        cutUntil = Math.max(cutUntil, run.world.now() + nanos);
    }

    private boolean isCut() {
        return run.world.now() < cutUntil;
    }

    /** A question that is lost while the link is cut, and then fails after a time. */
    <T> CompletableFuture<T> ask(Supplier<T> atStore) {
        CompletableFuture<T> future = new CompletableFuture<>();
        run.world.after(run.travel(random), () -> {
            if (!isCut()) {
                T reply = atStore.get();
                run.world.after(run.travel(random), process, () -> {
                    if (!isCut()) {
                        future.complete(reply);
                    }
                });
            }
        });
        if (run.isFaulty) {
            after(STORE_TIMEOUT, () -> future.completeExceptionally(new IllegalStateException("no reply")));
        }
        return future;
    }

    /** A command that arrives for certain, in order. */
    private void send(Runnable atStore) {
        long wanted = Math.max(run.world.now(), cutUntil) + run.travel(random);
        newestSent = Math.max(newestSent + 1, wanted);
        run.world.after(newestSent - run.world.now(), atStore);
    }

    /** A message of the store, which arrives for certain, in order. */
    void push(Runnable what) {
        long wanted = Math.max(run.world.now(), cutUntil) + run.travel(random);
        newestPushed = Math.max(newestPushed + 1, wanted);
        run.world.after(newestPushed - run.world.now(), process, what);
    }

    // ---- The session

    private void renew() {
        if (!run.isFaulty) {
            deadline = Long.MAX_VALUE / 2;
            return;
        }
        long number = ++renewals;
        long sent = run.world.now();
        var unused = ask(() -> {
                    run.world.after(run.ttl, () -> {
                        if (renewals == number && run.world.now() >= deadline) {
                            run.store.expire(this);
                        }
                    });
                    return number;
                })
                .thenAccept(done -> {
                    deadline = Math.max(deadline, sent + run.ttl);
                    after(run.ttl + 1, this::checkSession);
                });
        after(run.ttl / 3, this::renew);
    }

    boolean isLive() {
        return run.world.now() < deadline;
    }

    /** All holds are lost if no renewal succeeded in time; a new session begins. */
    private void checkSession() {
        if (isLive()) {
            return;
        }
        long end = deadline;
        deadline = run.world.now() + run.ttl;
        run.changed = true;
        send(() -> run.store.expire(this));
        for (int i = 0; i < locals.size(); i++) {
            Local local = locals.get(i);
            List.copyOf(local.holds).forEach(hold -> hold.to = Math.min(hold.to, end));
            local.holds.clear();
            local.grant = null;
            local.queued = null;
            local.isAwaited = false;
            serve(i);
        }
        annotated.clear();
    }

    // ---- The local tier

    void enter(Wait wait, Consumer<@Nullable Hold> end) {
        ends.put(wait, end);
        locals.get(wait.name).queue.add(wait);
        serve(wait.name);
    }

    private void serve(int name) {
        run.changed = true;
        Local local = locals.get(name);
        while (!local.queue.isEmpty()) {
            Wait head = local.queue.get(0);
            Claim grant = local.grant;
            if (grant == null) {
                if (local.queued == null) {
                    Claim claim = newClaim(name, head.isReader);
                    local.queued = claim;
                    send(() -> run.store.claim(claim));
                }
                return;
            }
            boolean isServed = grant.isShared
                    ? head.isReader && !local.isAwaited
                    : !head.isReader && local.holds.isEmpty() && !(local.isAwaited && random.chance(0.5));
            if (isServed) {
                local.queue.remove(0);
                admit(head, grant);
            } else if (local.holds.isEmpty()) {
                releaseGrant(local);
            } else {
                return;
            }
        }
        Claim queued = local.queued;
        if (queued != null) {
            local.queued = null;
            send(() -> run.store.release(queued));
        }
        if (local.grant != null && local.holds.isEmpty()) {
            releaseGrant(local);
        }
    }

    private Claim newClaim(int name, boolean isShared) {
        return new Claim(this, name, isShared, this.name() + "/" + ++claims);
    }

    private void admit(Wait wait, Claim grant) {
        Hold hold = new Hold(wait.thread, grant, wait, run.nextToken(), run.world.now());
        locals.get(wait.name).holds.add(hold);
        wait.thread.has(hold);
        end(wait, hold);
    }

    private void end(Wait wait, @Nullable Hold hold) {
        Consumer<@Nullable Hold> then = ends.remove(wait);
        wait.thread.end(wait);
        if (then != null) {
            then.accept(hold);
        }
    }

    private void releaseGrant(Local local) {
        Claim grant = local.grant;
        if (grant != null) {
            local.grant = null;
            local.isAwaited = false;
            annotated.remove(grant);
            send(() -> run.store.release(grant));
        }
    }

    void giveUp(Wait wait) {
        if (!wait.isOver() && locals.get(wait.name).queue.remove(wait)) {
            end(wait, null);
            serve(wait.name);
        }
    }

    void release(Hold hold) {
        hold.thread.holds.remove(hold);
        if (hold.isReleased) {
            return;
        }
        run.changed = true;
        hold.isReleased = true;
        run.note(hold.thread, "releases ", hold.claim.name);
        hold.to = Math.min(hold.to, run.world.now());
        Local local = locals.get(hold.claim.name);
        if (local.holds.remove(hold)) {
            serve(hold.claim.name);
        }
    }

    /** A lease has ended: the thread still has to release it. */
    void lose(Hold hold) {
        run.changed = true;
        hold.to = Math.min(hold.to, run.world.now());
        if (locals.get(hold.claim.name).holds.remove(hold)) {
            serve(hold.claim.name);
        }
    }

    boolean isHeld(Claim claim) {
        return locals.get(claim.name).grant == claim;
    }

    // ---- Messages of the store

    void granted(Claim claim) {
        Local local = locals.get(claim.name);
        if (local.queued == claim) {
            local.queued = null;
            local.grant = claim;
            serve(claim.name);
        }
    }

    void awaited(Claim claim) {
        Local local = locals.get(claim.name);
        if (local.grant == claim) {
            run.changed = true;
            local.isAwaited = true;
        }
    }

    void lost(Claim claim) {
        Local local = locals.get(claim.name);
        if (local.grant == claim) {
            local.holds.forEach(hold -> hold.to = Math.min(hold.to, run.world.now()));
            local.holds.clear();
            local.grant = null;
            local.isAwaited = false;
            annotated.remove(claim);
            serve(claim.name);
        }
    }

    // ---- What is true

    boolean isBehindWriter(Wait wait) {
        Local local = locals.get(wait.name);
        Claim queued = local.queued;
        return isBehindWriterHere(wait)
                || (queued != null
                        ? run.store.isQueued(queued) && run.store.hasWriterBefore(wait.name, queued)
                        : isDraining(local) && run.store.hasWriterBefore(wait.name, null));
    }

    private boolean isBehindWriterHere(Wait wait) {
        for (Wait other : locals.get(wait.name).queue) {
            if (other == wait) {
                return false;
            }
            if (!other.isReader) {
                return true;
            }
        }
        return false;
    }

    private static boolean isDraining(Local local) {
        return local.grant != null && local.isAwaited;
    }

    /** What the tables show of a reader that waits. */
    Reader reader(Wait wait) {
        Local local = locals.get(wait.name);
        return new Reader(isBehindWriterHere(wait), local.queued == null ? null : local.queued.id, isDraining(local));
    }

    /** The wait at the head of a queue; null if it is empty. */
    @Nullable
    Wait head(int name) {
        List<Wait> queue = locals.get(name).queue;
        return queue.isEmpty() ? null : queue.get(0);
    }

    void kill() {
        process.kill();
        threads.forEach(WaitsThread::die);
        run.changed = true;
        run.world.after(run.ttl, () -> run.store.expire(this));
    }

    // ---- The search

    void add(Wait wait) {
        if (!wait.isOver()) {
            wait.isAdded = true;
            schedule.add(wait);
        }
    }

    void ended(Wait wait) {
        if (wait.isAdded && run.flaw != WaitsRun.Flaw.LINES_STAY) {
            List.copyOf(annotated).forEach(claim -> claim.note.remove(wait));
            annotated.removeIf(claim -> claim.note.isEmpty());
        }
    }

    @Override
    public boolean isClosing() {
        return false;
    }

    @Override
    public void searchHere(List<Wait> fresh, Runnable end) {
        nested.addAll(fresh);
        nested.removeIf(wait -> wait.isOver() || wait.thread.holds.isEmpty());
        searched = List.copyOf(nested);
        end.run();
    }

    @Override
    public SearchSchedule.Next next() {
        return searched.isEmpty() ? SearchSchedule.Next.REST : SearchSchedule.Next.STORE;
    }

    @Override
    public void rest() {
        annotate(Map.of());
        detector.reset();
    }

    @Override
    public void searchAtStore(LongConsumer end) {
        WaitsPass pass = new WaitsPass(this, searched);
        var unused = new SearchPass(pass, run.rules, detector).run().whenComplete((found, failure) -> {
            if (run.world.trace().isInWords()) {
                run.world.say(name() + " pass ends " + found + " " + failure);
            }
            if (failure == null) {
                found.deadlocks().forEach(cycle -> run.reported(this, cycle));
                annotate(found.lines());
                end.accept(found.pauseNanos());
            } else {
                run.checkFailure(failure);
                end.accept(run.rules.pauseNanos(0, run.ttl));
            }
        });
    }

    private void annotate(Map<Object, Map<Object, String>> lines) {
        if (run.flaw == WaitsRun.Flaw.LINES_STAY && lines.isEmpty()) {
            return;
        }
        for (Claim claim : List.copyOf(annotated)) {
            if (!lines.containsKey(claim) && run.flaw != WaitsRun.Flaw.LINES_STAY) {
                annotated.remove(claim);
                claim.note.set(Map.of());
            }
        }
        lines.forEach((claim, ofClaim) -> {
            annotated.add((Claim) claim);
            ((Claim) claim).note.set(ofClaim);
        });
    }
}
