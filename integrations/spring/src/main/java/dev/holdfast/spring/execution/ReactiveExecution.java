package dev.holdfast.spring.execution;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.execution.AsyncExecution.FailureReaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs reactive work of at most one value under locks that belong to no thread, until its publisher completes. Each
 * subscription acquires the locks. A separate class, since Reactor is optional.
 */
public final class ReactiveExecution {

    private static final WorkThreads THREADS = WorkThreads.of(task -> {
        Disposable unused = Schedulers.boundedElastic().schedule(task);
    });
    private static final Scheduler SCHEDULER = Schedulers.fromExecutor(executor());

    private final LockRequest request;
    private final LockedWork<? extends Publisher<?>, ?> work;
    private final FailureReaction<? extends Publisher<?>> onFailure;
    private final Consumer<LockLostEvent> lossEvents;

    private ReactiveExecution(
            LockRequest request,
            LockedWork<? extends Publisher<?>, ?> work,
            FailureReaction<? extends Publisher<?>> onFailure,
            Consumer<LockLostEvent> lossEvents) {
        this.request = request;
        this.work = work;
        this.onFailure = onFailure;
        this.lossEvents = lossEvents;
    }

    /**
     * Acquires the locks on subscription, runs the work, and releases them when it completes, fails or is cancelled.
     */
    public static Publisher<?> publisher(
            LockRequest request,
            LockedWork<? extends Publisher<?>, ?> work,
            FailureReaction<? extends Publisher<?>> onFailure,
            Consumer<LockLostEvent> lossEvents) {
        return new ReactiveExecution(request, work, onFailure, lossEvents).mono();
    }

    private Mono<Object> mono() {
        return Mono.usingWhen(
                Mono.fromFuture(request::acquireAsync)
                        .map(locks -> new Acquisition(locks, null))
                        .onErrorResume(HoldfastException.class, failure -> Mono.just(new Acquisition(null, failure))),
                acquisition -> acquisition.locks == null ? reaction(acquisition) : run(acquisition, acquisition.locks),
                ReactiveExecution::release,
                (acquisition, failure) -> release(acquisition),
                ReactiveExecution::release);
    }

    /** Reactor's threads for code that may block, such as that of users. */
    public static Executor executor() {
        return THREADS::execute;
    }

    /** A user's reaction, run on those threads instead of the client's. */
    public static FailureReaction<Publisher<?>> elsewhere(FailureReaction<? extends Publisher<?>> reaction) {
        return failure -> onThreads(() -> reaction.react(failure));
    }

    private static Mono<Object> onThreads(LockedWork<? extends Publisher<?>, ?> work) {
        return Mono.<Object>defer(() -> from(work)).subscribeOn(SCHEDULER);
    }

    private static Mono<Object> from(LockedWork<? extends Publisher<?>, ?> work) {
        try {
            return Mono.from(work.run());
        } catch (Throwable thrown) {
            return Mono.error(thrown);
        }
    }

    private Mono<Object> reaction(Acquisition acquisition) {
        return from(() -> onFailure.react(acquisition.failure()));
    }

    private Mono<Object> run(Acquisition acquisition, HeldLocks locks) {
        locks.onLost(loss -> {
            acquisition.loss.complete(loss);
            lossEvents.accept(new LockLostEvent(request.work(), request.names(), loss));
        });
        Mono<Object> running = onThreads(() -> called(locks));
        Mono<Object> watched = request.settings().onLoss() == LossReaction.INTERRUPT
                ? Mono.firstWithSignal(running, acquisition.lost())
                : running;
        // Released here, since usingWhen would wrap the exception about a loss that its clean-up throws.
        return watched.map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .onErrorResume(failure -> ended(acquisition).then(Mono.error(failure)))
                .flatMap(value -> ended(acquisition).then(Mono.justOrEmpty(value)));
    }

    private Publisher<?> called(HeldLocks locks) throws Throwable {
        HeldStack stack = HeldStack.push(locks);
        try {
            return work.run();
        } finally {
            stack.pop();
        }
    }

    /** Releases the locks; fails if they were lost, unless the settings ask only for an event. */
    private Mono<Object> ended(Acquisition acquisition) {
        return release(acquisition).flatMap(outcome -> {
            boolean matters = request.settings().onLoss() != LossReaction.EVENT;
            return outcome == ReleaseOutcome.LOST && matters ? acquisition.lost() : Mono.empty();
        });
    }

    /** Releases the locks; has no effect if they are released already. */
    private static Mono<ReleaseOutcome> release(Acquisition acquisition) {
        return acquisition.locks == null ? Mono.empty() : Mono.fromCompletionStage(acquisition.locks::releaseAsync);
    }

    /** The locks of one subscription, or the reason why there are none. */
    private static final class Acquisition {

        private final @Nullable HeldLocks locks;
        private final @Nullable HoldfastException failure;
        private final CompletableFuture<Loss> loss = new CompletableFuture<>();

        Acquisition(@Nullable HeldLocks locks, @Nullable HoldfastException failure) {
            this.locks = locks;
            this.failure = failure;
        }

        HoldfastException failure() {
            if (failure == null) {
                throw new IllegalStateException("The locks were acquired");
            }
            return failure;
        }

        /** Fails when the locks are lost. Cancelling it does not cancel the future, which has other subscribers. */
        Mono<Object> lost() {
            return Mono.fromFuture(loss, true).flatMap(lost -> Mono.error(new LockLostException(lost)));
        }
    }
}
