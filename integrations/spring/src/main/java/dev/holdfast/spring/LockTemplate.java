package dev.holdfast.spring;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquireOptions;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spring.execution.AsyncExecution;
import dev.holdfast.spring.execution.HeldLocks;
import dev.holdfast.spring.execution.LockRequest;
import dev.holdfast.spring.execution.LockSettings;
import dev.holdfast.spring.execution.LockedExecution;
import dev.holdfast.spring.execution.WorkThreads;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Runs work under locks, with the options of {@link Locked} but without a proxy: for parts of methods, and for calls of
 * a class to itself. Immutable; each {@code with} method returns a changed copy.
 *
 * <pre>{@code
 * LockTemplate locks = new LockTemplate(holdfast).withMaxWait(ofSeconds(5));
 * locks.run("account/" + id, () -> ledger.append(entry, CurrentLocks.fencingToken()));
 * }</pre>
 *
 * <p><b>Thread-safety:</b> may be shared.
 */
public final class LockTemplate {

    private final Holdfast client;
    private final LockSettings settings;
    private final Consumer<LockLostEvent> lossEvents;
    private final LockedExecution execution;
    private final WorkThreads threads;

    /** Locks with the defaults of the annotation: a mutex, a maximum wait of ten seconds, an interrupt at a loss. */
    public LockTemplate(Holdfast client) {
        this(
                client,
                new LockSettings(
                        LockMode.MUTEX,
                        1,
                        0,
                        LockOptions.fair(),
                        AcquireOptions.defaults()
                                .withMaxWait(LockedDefaults.standard().maxWait()),
                        LossReaction.INTERRUPT,
                        SurroundingTransaction.HOLD),
                event -> {},
                WorkThreads.newThreads());
    }

    private LockTemplate(
            Holdfast client, LockSettings settings, Consumer<LockLostEvent> lossEvents, WorkThreads threads) {
        this.client = client;
        this.settings = settings;
        this.lossEvents = lossEvents;
        this.execution = new LockedExecution(lossEvents);
        this.threads = threads;
    }

    private LockTemplate with(LockSettings other) {
        return new LockTemplate(client, other, lossEvents, threads);
    }

    /**
     * How the lock is shared.
     *
     * @throws IllegalArgumentException if it is {@link LockMode#PERMITS}, of which {@link #withPermits} has the number
     */
    public LockTemplate withMode(LockMode mode) {
        if (mode == LockMode.PERMITS) {
            throw new IllegalArgumentException("For permits, call withPermits with the number of permits");
        }
        return with(settings.withMode(mode));
    }

    /**
     * Uses some permits of a semaphore.
     *
     * @param permits 1 to {@code capacity}
     * @param capacity how many there are, the same for all users of the name
     * @throws IllegalArgumentException if {@code permits} is out of range
     */
    public LockTemplate withPermits(int permits, int capacity) {
        if (permits < 1 || permits > capacity) {
            throw new IllegalArgumentException("permits (" + permits + ") must be 1 to capacity (" + capacity + ")");
        }
        return with(settings.withPermits(permits, capacity));
    }

    /** Whether claims may pass queued ones. */
    public LockTemplate withOptions(LockOptions options) {
        return with(settings.withOrder(options));
    }

    /**
     * The maximum wait for others; zero makes one attempt.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public LockTemplate withMaxWait(Duration wait) {
        return with(settings.withAcquire(settings.acquire().withMaxWait(wait)));
    }

    /**
     * The time after which the lock is lost even if its owner is alive, see {@link
     * AcquireOptions#withMaxHold(Duration)}.
     *
     * @throws IllegalArgumentException if it is out of range
     */
    public LockTemplate withMaxHold(Duration hold) {
        return with(settings.withAcquire(settings.acquire().withMaxHold(hold)));
    }

    /** What happens when the lock is lost while the work runs. */
    public LockTemplate withOnLoss(LossReaction reaction) {
        return with(settings.withOnLoss(reaction));
    }

    /** What happens when the calling thread has begun a transaction. */
    public LockTemplate withSurroundingTransaction(SurroundingTransaction reaction) {
        return with(settings.withSurroundingTransaction(reaction));
    }

    /** Publishes a {@link LockLostEvent} when a lock is lost while work runs; none are published otherwise. */
    public LockTemplate withEvents(ApplicationEventPublisher publisher) {
        return new LockTemplate(client, settings, publisher::publishEvent, threads);
    }

    /**
     * Calls asynchronous work on the threads of an executor, with the context that its task decorator takes from the
     * calling thread. Without an executor, each call has a new thread.
     *
     * @param executor if it has not begun the work a second after the locks were granted, the work runs on a new
     *     thread; if it rejects the work, the call fails with the exception of the executor, and the locks are released
     */
    public LockTemplate withExecutor(Executor executor) {
        return new LockTemplate(client, settings, lossEvents, WorkThreads.of(executor));
    }

    /** Performs an action under a lock, see {@link #call(Collection, LockedWork)}. */
    public <E extends Throwable> void run(String name, Action<E> action) throws E, InterruptedException {
        run(List.of(name), action);
    }

    /** Performs an action under locks, see {@link #call(Collection, LockedWork)}. */
    public <E extends Throwable> void run(Collection<String> names, Action<E> action) throws E, InterruptedException {
        this.<Boolean, E>call(names, () -> {
            action.run();
            return true;
        });
    }

    /** Runs work under a lock, see {@link #call(Collection, LockedWork)}. */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object, E extends Throwable> T call(String name, LockedWork<T, E> work)
            throws E, InterruptedException {
        return call(List.of(name), work);
    }

    /**
     * Runs work under locks, acquired all or nothing, on the calling thread, which owns them.
     *
     * <p><b>Blocking</b> and <b>interruption</b> are those of {@link dev.holdfast.DistributedLock#acquire(Duration)}.
     *
     * @param names at least one, in any order
     * @return what the work returns
     * @throws LockWaitTimeoutException if others kept a lock for all of the maximum wait; the work was not run
     * @throws dev.holdfast.StoreUnavailableException if the store did not answer; the work was not run
     * @throws dev.holdfast.LockLostException if a lock was lost before the work ended, unless the reaction is only an
     *     event; an exception of the work is suppressed in it
     * @throws IllegalArgumentException if there is no name, or an invalid one, or the store has no such locks
     * @throws IllegalStateException if the thread has a transaction that the settings refuse, or if it requests a
     *     maximum hold of a lock that it already has
     * @throws InterruptedException if interrupted before or while waiting for a lock; the work was not run
     * @throws E the exception of the work
     */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object, E extends Throwable> T call(Collection<String> names, LockedWork<T, E> work)
            throws E, InterruptedException {
        LockRequest request = request(names);
        return execution.run(request, execution.acquire(request), work);
    }

    /**
     * Runs work under a lock, or a fallback if others kept the lock for all of the maximum wait; see {@link
     * #call(Collection, LockedWork)}. A nested lock's failure never triggers the fallback.
     */
    public <T extends @Nullable Object, E extends Throwable> T callOrElse(
            String name, LockedWork<T, E> work, Function<? super LockWaitTimeoutException, ? extends T> otherwise)
            throws E, InterruptedException {
        LockRequest request = request(List.of(name));
        HeldLocks locks;
        try {
            locks = execution.acquire(request);
        } catch (LockWaitTimeoutException e) {
            return otherwise.apply(e);
        }
        return execution.run(request, locks, work);
    }

    /**
     * Runs work under a lock if it is granted within the maximum wait; see {@link #call(Collection, LockedWork)}.
     *
     * @return the result of the work, or empty if it was not run
     */
    public <T, E extends Throwable> Optional<T> tryCall(String name, LockedWork<T, E> work)
            throws E, InterruptedException {
        return callOrElse(name, () -> Optional.of(work.run()), timeout -> Optional.empty());
    }

    /** Runs asynchronous work under a lock, see {@link #callAsync(Collection, LockedWork)}. */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            String name, LockedWork<? extends CompletionStage<T>, ?> work) {
        return callAsync(List.of(name), work);
    }

    /**
     * Runs asynchronous work under locks that belong to no thread and are not re-entrant. Never blocks. The work is
     * called on the {@linkplain #withExecutor executor}, and ends when its stage completes.
     *
     * <p>Cancelling the returned stage's future ends the wait for the locks, or cancels the work. So does a loss,
     * unless another {@link LossReaction} is set.
     *
     * @param names at least one, in any order
     * @return a stage that completes like that of the work, after the locks are released, or with the exceptions of
     *     {@link #call(Collection, LockedWork)}
     */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            Collection<String> names, LockedWork<? extends CompletionStage<T>, ?> work) {
        return AsyncExecution.start(
                request(names),
                work,
                failure -> {
                    throw failure;
                },
                lossEvents,
                threads.forCall());
    }

    LockRequest request(Collection<String> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("At least one lock name is required");
        }
        List<String> distinct = List.copyOf(new LinkedHashSet<>(names));
        return new LockRequest(client, distinct, settings, "the work under " + distinct);
    }

    Consumer<LockLostEvent> lossEvents() {
        return lossEvents;
    }

    /**
     * An action under locks, without a result.
     *
     * @param <E> the exception that it may throw
     */
    @FunctionalInterface
    public interface Action<E extends Throwable> {

        /** Performs the action. */
        void run() throws E;
    }
}
