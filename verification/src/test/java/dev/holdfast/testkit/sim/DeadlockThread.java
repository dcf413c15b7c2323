package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.local.Sharing;
import dev.holdfast.engine.local.SimulatedThread;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A thread of a {@link DeadlockRun}, which nests locks in any order, and what it truly waits for and holds. */
final class DeadlockThread {

    private static final long MILLI = 1_000_000;
    private static final long POLL = 20 * MILLI;

    final DeadlockRun run;
    final DeadlockProcess process;
    final SimulatedThread thread;
    final WaitHistory history = new WaitHistory();

    /** What it holds, the newest first. */
    final Deque<WaitHistory.Held> holding = new ArrayDeque<>();

    private final SeededRandom random;
    WaitHistory.@Nullable Wait waiting;

    /** Since when it has truly been in a cycle. */
    long deadlockedSince = WaitHistory.OPEN;

    boolean isReported;

    DeadlockThread(DeadlockProcess process, SimulatedThread thread, SeededRandom random) {
        this.run = process.run;
        this.process = process;
        this.thread = thread;
        this.random = random;
    }

    void think() {
        process.after(random.heavyTail(MILLI, run.thinkMax), () -> next((int) random.between(1, run.depth)));
    }

    private void next(int depth) {
        List<DeadlockRun.Name> free = run.names.stream()
                .filter(name -> holding.stream().noneMatch(held -> held.name.equals(name.name())))
                .toList();
        if (free.isEmpty() || depth == 0) {
            use();
            return;
        }
        DeadlockRun.Name name = random.oneOf(free);
        boolean isReader = name.kind() == Kind.READ_WRITE && random.chance(0.6);
        boolean isPermits = name.kind() == Kind.SEMAPHORE;
        boolean isAsync = !isPermits && random.chance(run.asyncRate);
        boolean isLeased = random.chance(run.leaseRate);
        Mode mode = isPermits
                ? Mode.unowned(name.spec(), 1)
                : Mode.owned(name.spec(), isReader ? 1 : name.spec().capacity());
        AcquireOptions options = AcquireOptions.defaults()
                .withMaxWait(Duration.ofNanos(
                        random.heavyTail(run.waitMin, random.chance(0.7) ? run.waitMax : run.waitMax / 8)));
        if (isLeased) {
            options = options.withMaxHold(Duration.ofNanos(random.between(400 * MILLI, 8_000 * MILLI)));
        }
        run.waits++;
        WaitHistory.Wait wait = new WaitHistory.Wait(name.name(), isReader, run.world.now());
        boolean isLasting = !isPermits && !isAsync && !isLeased;
        waiting = isPermits || isAsync ? null : wait;
        history.waits.add(wait);
        run.note(
                this,
                "requests " + name.name() + (isReader ? " to read" : "") + (isAsync ? " async" : "")
                        + (isLeased ? " leased" : ""));
        thread.acquire(name.name(), mode, isAsync, AcquireTerms.of(options), (hold, failure) -> {
            run.changed = true;
            wait.noteBehindWriter(false, run.world.now());
            wait.to = run.world.now();
            waiting = null;
            deadlockedSince = WaitHistory.OPEN;
            isReported = false;
            if (hold == null) {
                run.note(this, "did not get " + name.name() + ": " + failure);
                process.after(random.heavyTail(10_000, 20 * MILLI), () -> afterFailure(depth));
                return;
            }
            WaitHistory.Held held = new WaitHistory.Held(name.name(), hold, !isReader, isLasting, run.world.now());
            history.holds.add(held);
            holding.push(held);
            run.note(this, "has " + name.name() + " with token " + hold.rawToken());
            hold.whenLost(loss -> {
                run.changed = true;
                held.to = Math.min(held.to, run.world.now());
                run.note(this, "lost " + name.name() + ": " + loss.cause());
            });
            process.after(random.heavyTail(10_000, 30 * MILLI), () -> next(depth - 1));
        });
        run.changed = true;
        watch(wait);
    }

    /** Does what a blocked thread does on its own: polls, and registers its long wait. */
    private void watch(WaitHistory.Wait wait) {
        if (waiting == wait) {
            process.after(run.addedAfter, () -> {
                if (waiting == wait) {
                    thread.noteLongWait();
                }
            });
            process.after(POLL, () -> pollWhile(wait));
        }
    }

    private void pollWhile(WaitHistory.Wait wait) {
        if (waiting == wait) {
            thread.poll();
            process.after(POLL, () -> pollWhile(wait));
        }
    }

    /** A victim mostly releases what it has; sometimes it keeps that and tries again, as it should not. */
    private void afterFailure(int depth) {
        if (random.chance(0.2)) {
            next(depth);
        } else {
            releaseAll();
        }
    }

    private void use() {
        process.after(random.heavyTail(MILLI, run.holdMax), this::releaseAll);
    }

    private void releaseAll() {
        WaitHistory.Held held = holding.poll();
        if (held == null) {
            think();
            return;
        }
        run.changed = true;
        held.to = Math.min(held.to, run.world.now());
        run.note(this, "releases " + held.name);
        SimulatedThread.release(held.hold, held.isWrite ? Sharing.EXCLUSIVE : Sharing.SHARED);
        process.after(random.heavyTail(10_000, 5 * MILLI), this::releaseAll);
    }

    /** Its process has died, and it with it. */
    void die() {
        holding.forEach(held -> held.to = Math.min(held.to, run.world.now()));
        holding.clear();
        WaitHistory.Wait wait = waiting;
        if (wait != null) {
            wait.noteBehindWriter(false, run.world.now());
            wait.to = Math.min(wait.to, run.world.now());
            waiting = null;
        }
    }
}
