package dev.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquireOptions;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.test.FaultyLink.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock store for tests of code that uses locks: in memory, on virtual time that only the test advances, with faults
 * on demand.
 *
 * <pre>{@code
 * try (TestStore store = TestStore.create()) {
 *     ReportJob job = new ReportJob(store.client());
 *     Hold other = store.take("nightly-report");        // held by another program
 *     assertThat(job.runIfFree()).isFalse();
 *     other.close();
 *     assertThat(job.runIfFree()).isTrue();
 *     store.assertFree("nightly-report");
 * }
 * }</pre>
 *
 * <p>There are two sides. The <em>program</em> under test uses {@link #client()}: the faults, {@link #pause} and {@link
 * #loseLock} affect it. {@link #elsewhere()} is a program on another machine, which no fault affects.
 *
 * <p><b>Time</b> stands still until {@link #advance} moves it, for both programs and for the store. Only then do leases
 * expire, keep-alives go out and waits time out. A call that has to wait, for a lock or for a reply of the store,
 * therefore waits until another thread advances time; {@link #callWhileTimePasses} does both on one thread.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class TestStore implements AutoCloseable {

    /**
     * Time advances in steps that are much shorter than all time-outs, since what the timers of a step trigger has only
     * the rest of the step to reply in.
     */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(1);

    /** The most real time, on a slow machine, for what needs no virtual time. */
    private static final Duration REAL_TIMEOUT = Duration.ofSeconds(60);

    /** The virtual time after which a call that still waits is assumed to wait for ever. */
    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    /** The real time that a thread may take to wake up before it is assumed to wait for something else. */
    private static final Duration LONGEST_WAKING = Duration.ofSeconds(2);

    private static final long POLL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String ELSEWHERE = "elsewhere";

    private final ManualEnvironment time = new ManualEnvironment();

    /** The time of the other machine and of the store, which {@link #pause} does not affect. */
    private final ManualEnvironment timeElsewhere = new ManualEnvironment();

    private final ReferenceStore store = new ReferenceStore(timeElsewhere.unixMicros());
    private final FaultyLink link = new FaultyLink(store.connect(), time);
    private final ReferenceStore linkElsewhere = store.connect();
    private final StoreRecord record = new StoreRecord(store, ELSEWHERE);
    private final Acquisitions acquisitions = new Acquisitions();
    private final Acquisitions acquisitionsElsewhere = new Acquisitions();
    private final Queue<Hold> taken = new ConcurrentLinkedQueue<>();
    private final Set<Environment.Timer> timers = ConcurrentHashMap.newKeySet();
    private final Holdfast client;
    private final Holdfast elsewhere;

    private TestStore(Consumer<? super Holdfast.Builder> settings) {
        Holdfast.Builder builder = builder().label("program under test");
        settings.accept(builder);
        client = builder.build();
        elsewhere = Holdfast.builder(linkElsewhere)
                .environment(timeElsewhere)
                .listener(acquisitionsElsewhere)
                .label(ELSEWHERE)
                .build();
    }

    /** Creates an empty store, and a client of it with the default settings. */
    public static TestStore create() {
        return create(builder -> {});
    }

    /**
     * Creates an empty store, and a client of it.
     *
     * @param settings sets the client up: its ttl, its time-outs, its listeners
     */
    public static TestStore create(Consumer<? super Holdfast.Builder> settings) {
        return new TestStore(settings);
    }

    // ---- Clients

    /** The client for the code under test. Closed with this store. */
    public Holdfast client() {
        return client;
    }

    /**
     * Begins to set up another client of the program, with its own session: two such clients behave like two
     * processes. The caller closes the client.
     */
    public Holdfast.Builder builder() {
        return Holdfast.builder(link).environment(time).listener(acquisitions);
    }

    /**
     * The program's connection to this store, which faults affect, for code that builds its client itself. Clients from
     * {@link #builder()} have it already. Closed with this store.
     */
    public LockStore lockStore() {
        return link;
    }

    /** A client on another machine, which no fault affects. Closed with this store. */
    public Holdfast elsewhere() {
        return elsewhere;
    }

    /**
     * Lets {@link #elsewhere()} take a lock and keep it until the hold is closed; any thread may close it.
     *
     * @throws IllegalStateException if the lock is not free
     */
    public Hold take(String lock) {
        Hold hold = outcome(elsewhere
                        .lock(lock)
                        .acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO)))
                .orElseThrow(() -> new IllegalStateException(
                        "Lock '" + lock + "' can't be acquired by another client: " + record.state(lock) + "."));
        taken.add(hold);
        return hold;
    }

    private static Optional<Hold> outcome(CompletionStage<Hold> acquisition) {
        try {
            return Optional.of(acquisition.toCompletableFuture().get(REAL_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockWaitTimeoutException) {
                return Optional.empty();
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError(
                    "The in-memory store did not answer within " + DurationFormat.format(REAL_TIMEOUT), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while another client acquires a lock", e);
        }
    }

    // ---- Time

    /**
     * Advances time: all that is due runs, in its order, and callbacks and listeners have run when this returns.
     * Threads that were waiting have been woken by then, but may not have run yet.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException(
                    "Time can't be moved back, but the step was " + DurationFormat.format(by));
        }
        pass(by, time::advance);
    }

    /**
     * Pauses the program, like a long garbage collection or a frozen machine: time passes everywhere, and nothing of
     * the program's client runs. A pause longer than the lease loses all that the program holds, and lets others take
     * it.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void pause(Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException(
                    "A pause must not be negative, but was " + DurationFormat.format(length));
        }
        pass(length, time::suspend);
    }

    private void pass(Duration length, Consumer<Duration> program) {
        Duration left = length;
        do {
            Duration step = left.compareTo(LONGEST_STEP) > 0 ? LONGEST_STEP : left;
            timeElsewhere.advance(step);
            program.accept(step);
            store.expire();
            settle();
            left = left.minus(step);
        } while (!left.isZero());
    }

    private void settle() {
        timeElsewhere.settle();
        time.settle();
    }

    /**
     * Runs an action when time has advanced by a delay, such as a release by another program while the code under test
     * waits for the lock. The action runs on the thread that advances time.
     */
    public void after(Duration delay, Runnable action) {
        timers.add(timeElsewhere.schedule(delay.toNanos(), action));
    }

    /** Does the same as {@link #callWhileTimePasses}, for an action without a result. */
    public void runWhileTimePasses(Action action) throws Exception {
        callWhileTimePasses(() -> {
            action.run();
            return null;
        });
    }

    /**
     * Runs a call on this thread and advances time whenever the call waits, so that a wait of ten minutes takes a
     * moment. Time advances to the next timer of the client or of the store, repeatedly until the call returns.
     *
     * <p>Every wait of the thread counts, so the call must wait for locks and for nothing else.
     *
     * @return what the call returns
     * @throws AssertionError if the call still waits after an hour of virtual time; it is interrupted then
     * @throws Exception what the call throws
     */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object> T callWhileTimePasses(Callable<T> call) throws Exception {
        PassingTime passing =
                new PassingTime(this::advance, this::nextTimer, this::isGrantUnderWay, LONGEST_WAIT, LONGEST_WAKING);
        passing.begin(Thread.currentThread());
        T result;
        try {
            result = call.call();
        } catch (Throwable t) {
            passing.end().ifPresent(t::addSuppressed);
            throw t;
        }
        Optional<AssertionError> failure = passing.end();
        if (failure.isPresent()) {
            throw failure.get();
        }
        return result;
    }

    /** Only without faults: one may keep the grant from ever reaching its waiter. */
    private boolean isGrantUnderWay() {
        return link.isHealthy() && acquisitions.namesWaitedFor().anyMatch(record::isHeldByProgram);
    }

    private Duration nextTimer() {
        Optional<Duration> here = time.untilNextTimer();
        Optional<Duration> there = timeElsewhere.untilNextTimer();
        return here.isPresent() && there.isPresent()
                ? (here.get().compareTo(there.get()) < 0 ? here.get() : there.get())
                : here.or(() -> there).orElse(LONGEST_STEP);
    }

    /** An action that may throw any exception. */
    @FunctionalInterface
    public interface Action {
        /** Performs the action. */
        void run() throws Exception;
    }

    // ---- Faults

    /** From now on, the program's commands fail at once and have no effect. */
    public void goDown() {
        link.inject(Fault.DOWN);
    }

    /** From now on, the program's commands have no effect and no reply, as if its network cable were cut. */
    public void goSilent() {
        link.inject(Fault.SILENT);
    }

    /** From now on, the program's commands take effect but their replies are lost: their outcomes are unknown. */
    public void loseAnswers() {
        link.inject(Fault.LOSES_ANSWERS);
    }

    /**
     * From now on, each reply to the program is delayed; zero ends that.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void slowDown(Duration answersTake) {
        if (answersTake.isNegative()) {
            throw new IllegalArgumentException("An answer can't take " + DurationFormat.format(answersTake));
        }
        link.delayBy(answersTake);
    }

    /** Ends all faults. What was lost stays lost; the client retries what it must. */
    public void recover() {
        link.inject(Fault.NONE);
        link.delayBy(Duration.ZERO);
    }

    /**
     * Prepares this store and the program's client for another test, where tests share them: ends all faults, cancels
     * actions scheduled by {@link #after}, releases holds from {@link #take}, and removes the records of scheduled
     * tasks that have ended. Time advances until the program has finished what it has begun, and until its client has
     * recovered; at most five minutes of virtual time for each.
     *
     * <p>A campaign of the program continues, and so does its term.
     *
     * @throws IllegalStateException if something remains that this store can't end; the message names it. Either the
     *     program or {@link #elsewhere()} holds or waits for something, or has not closed a hold that it lost; or a
     *     latch is not open; or the client is closed. Use another store then.
     */
    public void reset() {
        recover();
        timers.forEach(Environment.Timer::cancel);
        timers.clear();
        List<Hold> holds = List.copyOf(taken);
        new StoreReset(client, record, acquisitions, acquisitionsElsewhere, this::advance).run(holds);
        taken.removeAll(holds);
    }

    /**
     * Takes a lock, permits or a scheduled task away from the program, like an operator's forced release. The listeners
     * for the loss have run when this returns, unless a fault hides the loss from the program.
     *
     * @throws IllegalStateException if the program does not hold it
     */
    public void loseLock(String name) {
        if (!isHeld(name)) {
            throw new IllegalStateException("The program can't lose lock '" + name + "': " + record.state(name) + ".");
        }
        record.takeFromProgram(name);
        advance(Duration.ZERO);
    }

    // ---- State

    /** Whether, according to the store, the program holds this lock, permits of this semaphore, or this task. */
    public boolean isHeld(String name) {
        return record.isHeldByProgram(name);
    }

    /** The number of acquisitions of the program that wait for this name, by threads and asynchronous ones. */
    public int waiting(String name) {
        return acquisitions.waiting(name);
    }

    /**
     * Waits, in real time, until this number of acquisitions of the program wait for a name, so that a test can rely on
     * the threads that it started.
     *
     * @throws AssertionError if that is not the case after a minute
     */
    public void awaitWaiting(String name, int acquisitions) {
        await(
                () -> waiting(name) == acquisitions,
                () -> acquisitions + " acquisitions should wait for '" + name + "', but " + waiting(name) + " do");
    }

    /**
     * Checks that the program holds a lock, permits or a task.
     *
     * @throws AssertionError if not; the message names the holder
     */
    public void assertHeld(String name) {
        check(isHeld(name), () -> "The program should hold '" + name + "', but " + record.state(name) + ".");
    }

    /**
     * Checks that a name has no holder.
     *
     * @throws AssertionError if not; the message names the holder
     */
    public void assertFree(String name) {
        check(record.isFree(name), () -> "No client should hold '" + name + "', but " + record.state(name) + ".");
    }

    /**
     * Checks that the program holds nothing, and so has forgotten no release.
     *
     * @throws AssertionError if not; the message lists the names
     */
    public void assertNothingHeld() {
        List<String> names = record.heldByProgram();
        check(names.isEmpty(), () -> "The program should hold nothing, but holds " + names + ".");
    }

    private static void check(boolean condition, Supplier<String> message) {
        if (!condition) {
            throw new AssertionError(message.get());
        }
    }

    private static void await(BooleanSupplier condition, Supplier<String> message) {
        long end = System.nanoTime() + REAL_TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            check(System.nanoTime() - end < 0, message);
            LockSupport.parkNanos(POLL_EVERY_NANOS);
        }
    }

    /** Ends all faults, closes both clients and the store. Idempotent. */
    @Override
    public void close() {
        recover();
        client.close();
        elsewhere.close();
        link.close();
        linkElsewhere.close();
        store.close();
        time.close();
        timeElsewhere.close();
    }
}
