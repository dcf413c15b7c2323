package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Lockable;
import dev.holdfast.MultiHold;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One client in one process, with the actors that use it. */
final class SimClient implements LinkListener {

    private static final long RETRY = 50_000_000;

    private final Run run;
    private final SimProcess process;
    private final SimEnvironment environment;
    private final SeededRandom random;
    private final List<Actor> actors = new ArrayList<>();
    private final List<Participant> others = new ArrayList<>();
    private final List<Contender> contenders = new ArrayList<>();
    private final Map<String, Integer> waiting = new HashMap<>();
    private final Set<Object> endsTold = new HashSet<>();
    private final Map<String, Integer> holding = new HashMap<>();
    private final Map<String, Long> lastHeld = new HashMap<>();
    private final Map<String, Long> lastActive = new HashMap<>();
    private final Set<ClaimRef> unknownYields = new HashSet<>();
    private final Map<ClaimRef, Long> sentAt = new HashMap<>();
    private @Nullable SimLink link;
    private @Nullable ClientUnderTest subject;
    private @Nullable Class<? extends Command> ambushed;
    private Runnable ambush = () -> {};
    private long longestPoll;
    private boolean isClosing;
    private boolean isClosed;
    private boolean hasRetired;

    SimClient(Run run, SimProcess process, SimEnvironment environment, SeededRandom random) {
        this.run = run;
        this.process = process;
        this.environment = environment;
        this.random = random;
    }

    String name() {
        return process.name();
    }

    SimProcess process() {
        return process;
    }

    List<Actor> actors() {
        return actors;
    }

    boolean isClosing() {
        return isClosing;
    }

    boolean isClosed() {
        return isClosed;
    }

    boolean isOpen() {
        return subject != null && !isClosing && !process.isDead();
    }

    @Nullable
    SimLink link() {
        return link;
    }

    // ---- Life cycle

    /** Starts the client; retries until the store is available. */
    void open() {
        SimLink fresh = new SimLink(run.world, process, run.server, run.network, random.fork(), this);
        link = fresh;
        Plan plan = run.plan;
        ClientUnderTest.Settings settings = new ClientUnderTest.Settings(
                Duration.ofNanos(plan.ttl),
                Duration.ofNanos(plan.cohortBudget),
                Duration.ofNanos(plan.storeTimeout),
                name());
        run.starter.start(fresh, environment, settings).whenComplete((started, failure) -> {
            if (failure == null) {
                subject = started;
                run.say(name() + " is open");
                for (int i = actors.size(); i < plan.threads; i++) {
                    actors.add(new Actor(run, this, random.fork(), name() + "." + (i + 1)));
                }
                if (others.isEmpty()) {
                    addOthers();
                }
                begin();
            } else if (run.plan.isCalm) {
                run.world.fail(Rule.HEALTHY_KEEPS, name() + " can't start: " + failure);
            } else {
                run.say(name() + " can't start: " + failure.getMessage());
                process.after(RETRY, this::open);
            }
        });
    }

    private void addOthers() {
        // A single process has two, so that they interact.
        int count = run.plan.processes == 1 ? 2 : 1;
        for (int i = 1; run.plan.hasLatch && i <= count; i++) {
            others.add(new Counter(run, this, random.fork(), i, Run.LATCH));
        }
        for (int i = 1; run.plan.hasElection && i <= count; i++) {
            Contender fresh =
                    new Contender(run, this, random.fork(), name() + ".e" + i, Run.ELECTION, environment.callbacks());
            contenders.add(fresh);
            others.add(fresh);
        }
    }

    /** All participants begin or resume. */
    void begin() {
        participants().forEach(Participant::begin);
    }

    List<Participant> participants() {
        List<Participant> all = new ArrayList<>(actors);
        all.addAll(others);
        return all;
    }

    /** Closes the client, then runs an action. */
    void close(Runnable then) {
        ClientUnderTest open = subject;
        if (open == null || isClosing || process.isDead()) {
            return;
        }
        isClosing = true;
        run.say(name() + " is being closed");
        open.close().whenComplete((nothing, failure) -> {
            run.say(name() + " is closed");
            isClosed = true;
            process.after(run.plan.toldWithin(), () -> {
                checkClosed();
                then.run();
            });
        });
    }

    private void checkClosed() {
        run.holdOracle.checkNothingInHandOf(this);
        contenders.forEach(Contender::checkClosed);
        waiting.forEach((resource, count) -> {
            if (count > 0) {
                run.world.fail(
                        Rule.CLOSED,
                        name() + " was closed, and " + count + " requests for " + resource + " still wait");
            }
        });
    }

    /** Requests one resource or several at once. */
    Asked acquire(List<AcquireIntent.Part> parts, AcquireOptions options) {
        ClientUnderTest open = subject();
        if (parts.size() == 1) {
            CompletionStage<? extends Hold> stage = acquire(open, parts.get(0), options);
            return new Asked(
                    stage.thenApply(List::of), () -> stage.toCompletableFuture().cancel(false));
        }
        List<Lockable> lockables =
                parts.stream().map(part -> lockable(open, part)).toList();
        CompletionStage<MultiHold> stage = open.lockAll(lockables).acquireAsync(options);
        return new Asked(
                stage.thenApply(PartHold::of), () -> stage.toCompletableFuture().cancel(false));
    }

    /** A request, and how to cancel it. */
    record Asked(CompletionStage<List<Hold>> holds, BooleanSupplier cancel) {}

    private static CompletionStage<? extends Hold> acquire(
            ClientUnderTest open, AcquireIntent.Part part, AcquireOptions options) {
        SimResource resource = part.resource();
        if (resource.isSemaphore()) {
            return open.semaphore(resource.name(), resource.capacity(), resource.options())
                    .acquireAsync(part.weight(), options);
        }
        return lock(open, part).acquireAsync(options);
    }

    private static Lockable lockable(ClientUnderTest open, AcquireIntent.Part part) {
        SimResource resource = part.resource();
        return resource.isSemaphore()
                ? open.semaphore(resource.name(), resource.capacity(), resource.options())
                        .permits(part.weight())
                : lock(open, part);
    }

    private static DistributedLock lock(ClientUnderTest open, AcquireIntent.Part part) {
        SimResource resource = part.resource();
        if (resource.isReadWrite()) {
            var both = open.readWriteLock(resource.name(), resource.options());
            return part.isShare() ? both.readLock() : both.writeLock();
        }
        return open.lock(resource.name(), resource.options());
    }

    ClientUnderTest subject() {
        ClientUnderTest open = subject;
        if (open == null) {
            throw new IllegalStateException("not open");
        }
        return open;
    }

    // ---- Activity by resource

    void startsWaiting(String resource) {
        waiting.merge(resource, 1, Integer::sum);
    }

    void stopsWaiting(String resource) {
        waiting.merge(resource, -1, Integer::sum);
        lastActive.put(resource, run.world.now());
        checkWhenIdle(resource);
    }

    boolean isWaitingFor(String resource) {
        return waiting.getOrDefault(resource, 0) > 0;
    }

    void startsHolding(String resource) {
        holding.merge(resource, 1, Integer::sum);
    }

    void stopsHolding(String resource) {
        holding.merge(resource, -1, Integer::sum);
        lastHeld.put(resource, run.world.now());
        checkWhenIdle(resource);
    }

    /** Called when a hold is abandoned, until its lease ends. */
    void leaves(String resource, long duration) {
        holding.merge(resource, 1, Integer::sum);
        process.after(duration, () -> stopsHolding(resource));
        stopsHolding(resource);
    }

    /**
     * Checks, after the commands under way have been settled, that a client without holds and requests has no claim.
     */
    private void checkWhenIdle(String resource) {
        long since = run.world.now();
        if (run.isUndisturbed(resource)) {
            run.world.after(run.plan.settledWithin(), () -> {
                boolean holdsNothing =
                        holding.getOrDefault(resource, 0) == 0 && lastHeld.getOrDefault(resource, 0L) <= since;
                if (holdsNothing && hasBeenAloneSince(resource, since + 1) && isOpen()) {
                    run.storeOracle.checkNothingOf(process, resource, run.server.micros());
                }
            });
        }
    }

    /** Whether no request for a resource has waited here since an instant. */
    boolean hasBeenAloneSince(String resource, long since) {
        return !isWaitingFor(resource) && lastActive.getOrDefault(resource, 0L) < since;
    }

    /** When a claim of this client was first sent, in true time. */
    long sentAt(ClaimRef claim) {
        return sentAt.getOrDefault(claim, Long.MIN_VALUE);
    }

    /** The longest round trip of a poll so far, in true time. */
    long longestPoll() {
        return longestPoll;
    }

    void noteGrant() {
        if (hasRetired) {
            run.coverage.hit(CoveragePoint.RECOVERED_AFTER_ABANDONMENT);
        }
    }

    // ---- Events of its link

    /** Whether the store has signalled the end of this grant or its session. */
    boolean wasToldOfItsEnd(ClaimRecord grant) {
        return endsTold.contains(grant.ref) || (!grant.outlivesSession() && endsTold.contains(grant.session.id));
    }

    /** Runs an action shortly after the next command of a kind was sent. */
    void ambush(Class<? extends Command> kind, Runnable what) {
        ambushed = kind;
        ambush = what;
    }

    @Override
    public void sent(Command command) {
        if (isClosed && !process.isDead()) {
            run.world.fail(Rule.CLOSED, name() + " was closed, and sends " + TraceFormat.of(command));
        }
        if (command instanceof Command.CloseSession && !isClosing && run.server.partitions() > 1) {
            run.coverage.hit(CoveragePoint.SESSION_RESTED);
        }
        hasRetired |= command instanceof Command.Retire;
        if (command instanceof Command.Claiming claiming) {
            sentAt.putIfAbsent(claiming.request().claim(), run.world.now());
        }
        if (ambushed != null && ambushed.isInstance(command)) {
            ambushed = null;
            run.world.after(random.between(0, run.plan.delayMax), ambush);
        }
    }

    @Override
    public void answered(Command command, Reply reply, long sentAt) {
        if (command instanceof Command.Poll) {
            longestPoll = Math.max(longestPoll, run.world.now() - sentAt);
        }
        if (reply instanceof Reply.SessionAlive && run.world.now() - sentAt > run.plan.ttl) {
            run.coverage.hit(CoveragePoint.RENEWAL_ANSWERED_TOO_LATE);
        } else if (unknownYields.remove(claimOf(command))) {
            run.coverage.hit(CoveragePoint.YIELD_SETTLED);
        }
    }

    @Override
    public void failed(Command command, StoreException.Effect effect) {
        if (command instanceof Command.Yield yield && effect == StoreException.Effect.UNKNOWN) {
            unknownYields.add(yield.next().claim());
        }
    }

    @Override
    public void signalled(Signal signal) {
        if (signal instanceof Signal.SessionEnded ended) {
            endsTold.add(ended.session());
        } else if (signal instanceof Signal.Revoked revoked && run.storeOracle.isEnded(revoked.claim())) {
            endsTold.add(revoked.claim());
        }
        ClaimRef claim = claimOf(signal);
        if (claim != null && run.storeOracle.isEnded(claim)) {
            run.coverage.hit(CoveragePoint.SIGNAL_AFTER_END);
        }
    }

    @Override
    public void signalLost(Signal signal) {
        if (signal instanceof Signal.Granted || signal instanceof Signal.Changed) {
            run.coverage.hit(CoveragePoint.GRANT_SIGNAL_LOST);
        }
    }

    /** The claim that a command makes or ends. */
    private static @Nullable ClaimRef claimOf(Command command) {
        if (command instanceof Command.Yield yield) {
            return yield.next().claim();
        }
        return command instanceof Command.Withdraw withdraw ? withdraw.claim() : null;
    }

    private static @Nullable ClaimRef claimOf(Signal signal) {
        if (signal instanceof Signal.Granted granted) {
            return granted.claim();
        }
        return signal instanceof Signal.Changed changed ? changed.claim() : null;
    }
}
