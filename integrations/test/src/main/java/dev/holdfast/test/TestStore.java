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
 * A lock store for tests of code that uses locks: in memory, on time that only the test moves, with faults that the
 * test asks for.
 *
 * <pre>{@code
 * try (TestStore store = TestStore.create()) {
 *     ReportJob job = new ReportJob(store.client());
 *     Hold other = store.take("nightly-report");        // somebody else has it
 *     assertThat(job.runIfFree()).isFalse();
 *     other.close();
 *     assertThat(job.runIfFree()).isTrue();
 *     store.assertFree("nightly-report");
 * }
 * }</pre>
 *
 * <p>There are two sides. The <em>program</em> under test uses {@link #client()}: the faults, {@link #pause} and {@link
 * #loseLock} concern it. {@link #elsewhere()} is a program on another machine, which no fault concerns.
 *
 * <p><b>Time</b> stands still until {@link #advance} moves it, for both and for the store: leases end, keep-alives go
 * out and waits are over then, and at no other moment. So a call that has to wait, for a lock or for an answer of the
 * store, waits until another thread moves time; {@link #callWhileTimePasses} does both from one thread.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class TestStore implements AutoCloseable {

    /**
     * Time is moved in steps that are short beside all time-outs: what the timers of a step set off has no more than
     * the rest of the step to answer in.
     */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(1);

    /** How long something may take in real time that needs no virtual time, on a machine that is slow. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Who still waits then waits for ever. */
    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    /** So long in real time a thread may take to wake up before it is taken to wait for something else. */
    private static final Duration LONGEST_WAKING = Duration.ofSeconds(2);

    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final String ELSEWHERE = "elsewhere";

    private final ManualEnvironment time = new ManualEnvironment();

    /** That of the other machine and of the store, which {@link #pause} does not concern. */
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
     * Begins to set up one more client of the program, with a session of its own: two of them are to each other as two
     * processes. Whoever builds it closes it.
     */
    public Holdfast.Builder builder() {
        return Holdfast.builder(link).environment(time).listener(acquisitions);
    }

    /**
     * The program's connection to this store, which faults concern, for code that sets up a client by itself: with
     * {@link #builder()} it needs none. Closed with this store.
     */
    public LockStore lockStore() {
        return link;
    }

    /** A client on another machine, which no fault concerns. Closed with this store. */
    public Holdfast elsewhere() {
        return elsewhere;
    }

    /**
     * Has somebody else take a lock, and keep it until the hold is closed; any thread may close it.
     *
     * @throws IllegalStateException if the lock is not free
     */
    public Hold take(String lock) {
        Hold hold = outcome(elsewhere
                        .lock(lock)
                        .acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO)))
                .orElseThrow(() -> new IllegalStateException(
                        "Lock '" + lock + "' can't be taken by somebody else: " + record.state(lock) + "."));
        taken.add(hold);
        return hold;
    }

    private static Optional<Hold> outcome(CompletionStage<Hold> acquisition) {
        try {
            return Optional.of(acquisition.toCompletableFuture().get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockWaitTimeoutException) {
                return Optional.empty();
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError(
                    "The store in memory has not answered within " + DurationFormat.format(PATIENCE), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while somebody else takes a lock", e);
        }
    }

    // ---- Time

    /**
     * Lets time pass: all that is due runs, in its order, and callbacks and listeners have run when this returns.
     * Threads that were waiting have been woken by then, and go on in their own time.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException(
                    "Time does not go back, but was to be moved by " + DurationFormat.format(by));
        }
        pass(by, time::advance);
    }

    /**
     * Pauses the program, as a long collection of garbage or a machine that is frozen does: time passes everywhere, and
     * nothing of the program's client runs. A pause that is longer than the lease loses all that the program holds, and
     * lets others take it.
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
     * Does something when time has passed by so much: somebody else releases a lock while the code under test waits for
     * it. It runs on the thread that moves time.
     */
    public void after(Duration delay, Runnable what) {
        timers.add(timeElsewhere.schedule(delay.toNanos(), what));
    }

    /** As {@link #callWhileTimePasses}, with nothing to return. */
    public void runWhileTimePasses(Action action) throws Exception {
        callWhileTimePasses(() -> {
            action.run();
            return null;
        });
    }

    /**
     * Calls something on this thread that may wait, and lets time pass whenever it does: a wait of ten minutes takes a
     * moment. Time passes to the next timer that is due, of the client or of the store, again and again until the call
     * returns.
     *
     * <p>Whatever the thread waits for counts as waiting, so this is for code that waits for locks and for nothing
     * else.
     *
     * @return what the call returns
     * @throws AssertionError if it returns after an hour of this time, when it is interrupted
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

    /** A fault may keep it from ever being taken up. */
    private boolean isGrantUnderWay() {
        return link.isWell() && acquisitions.namesWaitedFor().anyMatch(record::isHeldByProgram);
    }

    private Duration nextTimer() {
        Optional<Duration> here = time.untilNextTimer();
        Optional<Duration> there = timeElsewhere.untilNextTimer();
        return here.isPresent() && there.isPresent()
                ? (here.get().compareTo(there.get()) < 0 ? here.get() : there.get())
                : here.or(() -> there).orElse(LONGEST_STEP);
    }

    /** What may throw anything. */
    @FunctionalInterface
    public interface Action {
        /** Does it. */
        void run() throws Exception;
    }

    // ---- Faults

    /** From now on the program's commands fail at once, and have no effect. */
    public void goDown() {
        link.suffer(Fault.DOWN);
    }

    /** From now on the program's commands have no effect and no answer, as behind a cable that is cut. */
    public void goSilent() {
        link.suffer(Fault.SILENT);
    }

    /** From now on the program's commands take effect, and no answer comes: the program can't know which of both. */
    public void loseAnswers() {
        link.suffer(Fault.LOSES_ANSWERS);
    }

    /**
     * From now on each answer to the program takes so much time; zero ends that.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void slowDown(Duration answersTake) {
        if (answersTake.isNegative()) {
            throw new IllegalArgumentException("An answer can't take " + DurationFormat.format(answersTake));
        }
        link.delayBy(answersTake);
    }

    /** Ends all faults. What was lost stays lost: the client sends again what it must. */
    public void recover() {
        link.suffer(Fault.NONE);
        link.delayBy(Duration.ZERO);
    }

    /**
     * Makes this store and the program's client ready for another test, where tests share them: ends all faults, drops
     * what was to happen {@linkplain #after later}, releases what was {@linkplain #take taken}, and has the scheduled
     * tasks that are over leave nothing behind. Time passes for as long as the program needs to finish what it has
     * begun, and its client to recover; at most five minutes of this time for each.
     *
     * <p>A campaign of the program goes on, and its term with it.
     *
     * @throws IllegalStateException if something is left that nobody else can end, with what it is: the program or
     *     {@link #elsewhere()} holds or waits for something, also if it was lost and is not closed, or a latch counts;
     *     or the client is closed. Only another store helps then
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
     * Takes a lock, permits or a scheduled task away from the program, as an operator does who releases it by force.
     * The listeners for the loss have run when this returns, unless a fault keeps the program from learning it.
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

    // ---- Looking

    /** Whether the program holds this lock, permits of this semaphore, or this task, by the store's record. */
    public boolean isHeld(String name) {
        return record.isHeldByProgram(name);
    }

    /** How many acquisitions of the program wait for this name at the moment, of threads and asynchronous ones. */
    public int waiting(String name) {
        return acquisitions.waiting(name);
    }

    /**
     * Waits, in real time, until so many acquisitions of the program wait for a name: until threads that the test has
     * started have come so far.
     *
     * @throws AssertionError if that is not so after a minute
     */
    public void awaitWaiting(String name, int acquisitions) {
        await(
                () -> waiting(name) == acquisitions,
                () -> acquisitions + " acquisitions should wait for '" + name + "', but " + waiting(name) + " do");
    }

    /**
     * Checks that the program holds it.
     *
     * @throws AssertionError if not, with who holds it
     */
    public void assertHeld(String name) {
        check(isHeld(name), () -> "The program should hold '" + name + "', but " + record.state(name) + ".");
    }

    /**
     * Checks that nobody holds it.
     *
     * @throws AssertionError if not, with who holds it
     */
    public void assertFree(String name) {
        check(record.isFree(name), () -> "Nobody should hold '" + name + "', but " + record.state(name) + ".");
    }

    /**
     * Checks that the program holds nothing: that none of its paths forgets to release.
     *
     * @throws AssertionError if not, with the names
     */
    public void assertNothingHeld() {
        List<String> held = record.heldByProgram();
        check(held.isEmpty(), () -> "The program should hold nothing, but holds " + held + ".");
    }

    private static void check(boolean isSo, Supplier<String> message) {
        if (!isSo) {
            throw new AssertionError(message.get());
        }
    }

    private static void await(BooleanSupplier isSo, Supplier<String> message) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isSo.getAsBoolean()) {
            check(System.nanoTime() - end < 0, message);
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
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
