package dev.holdfast.engine.local;

import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Hold;
import dev.holdfast.HoldfastListener.AcquireRequest.Call;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Acquires one resource in one mode, for threads that park or for stages. Thread-safe. */
public record Acquirer(LocalResources resources, ResourceName name, Mode mode) {

    /**
     * How long the head of the queue parks between two polls during another's slice: about as long as the system needs
     * to wake a thread.
     */
    private static final long WATCH_NANOS = 50_000;

    /**
     * Parks until a hold is granted.
     *
     * @param blocker what the thread parks for, as in {@link LockSupport}
     * @return null if others kept the resource for all of the wait
     */
    @Nullable
    public LocalHold await(Object blocker, AcquireTerms terms) throws InterruptedException {
        return awaitObserved(blocker, request(terms));
    }

    /**
     * As {@link #await(Object, AcquireTerms)}; a time-out says who has the resource.
     *
     * @throws LockWaitTimeoutException if others kept the resource for all of the wait
     */
    public LocalHold awaitOrTimeOut(Object blocker, AcquireTerms terms) throws InterruptedException {
        Request request = request(terms);
        LocalHold hold = awaitObserved(blocker, request);
        if (hold != null) {
            return hold;
        }
        throw request.isTry() || request.wasOverdue()
                ? request.takenOrTimedOut()
                : resources.lookup.timedOut(
                        resources.partition(name),
                        name,
                        Duration.ofNanos(terms.waitNanos()),
                        Long.MAX_VALUE,
                        resources.ownHoldHint(name));
    }

    private Request request(AcquireTerms terms) {
        resources.requireSupported(terms.lease(), name);
        AcquisitionObserver observer = observe(terms.isTry() ? Call.TRY : Call.BLOCKING);
        return new Request(resources.context, mode, name, Thread.currentThread(), null, terms, Audience.USER, observer);
    }

    private @Nullable AcquisitionObserver observe(Call call) {
        return resources.context.observers().begin(name, mode.spec().kind(), mode.weight(), call);
    }

    private @Nullable LocalHold awaitObserved(Object blocker, Request request) throws InterruptedException {
        AcquisitionObserver observer = request.observer;
        if (observer == null) {
            return await(blocker, request);
        }
        WaitEnd end = WaitEnd.FAILED;
        LocalHold hold = null;
        try {
            hold = await(blocker, request);
            end = waitEnd(request.terms);
        } catch (InterruptedException e) {
            end = WaitEnd.CANCELLED;
            throw e;
        } finally {
            if (hold == null) {
                observer.notGranted(end);
            } else {
                observer.granted(hold.rawToken());
            }
        }
        return hold;
    }

    private @Nullable LocalHold await(Object blocker, Request request) throws InterruptedException {
        try {
            return awaitEnd(blocker, request);
        } catch (Error | RuntimeException e) {
            giveUp(request);
            throw e;
        }
    }

    /** The caller leaves with an exception, so it will not release a hold that it may be granted. */
    private void giveUp(Request request) {
        LocalSynchronizer resource = resources.resource(name);
        if (resource != null && !request.isDone()) {
            Failsafe.run("cancelling a wait", () -> resource.cancel(request));
        }
        LocalHold hold = request.isDone() ? request.hold() : null;
        if (hold != null) {
            Failsafe.run("releasing a grant that no caller took", () -> {
                var unused = hold.giveBack(CallerMode.ASYNC);
            });
        }
    }

    private @Nullable LocalHold awaitEnd(Object blocker, Request request) throws InterruptedException {
        long waitNanos = request.terms.waitNanos();
        long start = resources.context.environment().monotonicNanos();
        long deadline = start + request.limitNanos();
        LocalSynchronizer resource = resources.enter(name, mode.spec(), request);
        if (request.isAskedFor()) {
            resources
                    .context
                    .spin()
                    .until(
                            () -> request.isDone() || !request.isAskedFor(),
                            deadline - resources.context.environment().monotonicNanos());
        }
        boolean mayDeadlock = !request.isDone() && !request.isTry() && resources.waits.isSearched();
        Thread owner = mayDeadlock ? request.owner() : null;
        boolean wasInterrupted = false;
        boolean isOvertime = request.isTry();
        NestedWait added = null;
        try {
            while (true) {
                Trampoline.flush();
                boolean isInterrupted = Thread.interrupted();
                wasInterrupted |= isInterrupted;
                long now = resources.context.environment().monotonicNanos();
                long left = deadline - now;
                // Checked last: a wait for another lock in between could have consumed the wake-up that is meant for
                // parking below.
                if (request.isDone()) {
                    break;
                }
                if (isInterrupted && request.terms.isInterruptible()) {
                    if (resource.cancel(request)) {
                        wasInterrupted = false;
                        throw new InterruptedException("interrupted while waiting for lock '" + name + "'");
                    }
                } else if (left <= 0 && !isOvertime && resource.awaitAnswer(request, Duration.ofNanos(waitNanos))) {
                    isOvertime = true;
                    deadline += request.overtimeNanos();
                } else if (left <= 0) {
                    boolean wasUnanswered = request.isTry() || resource.isUnanswered(request);
                    if (resource.cancel(request)) {
                        if (wasUnanswered) {
                            throw request.unanswered(resource.partition.wire.lastFailure());
                        }
                        return null;
                    }
                } else if (owner == null) {
                    park(blocker, resource, request, deadline, left);
                } else {
                    long untilAdded = start + NestedWaits.ADDED_AFTER_NANOS - now;
                    if (untilAdded <= 0) {
                        added = new NestedWait(request, resource, owner, start);
                        resources.waits.add(added);
                        owner = null;
                    } else {
                        long next = Math.min(left, untilAdded);
                        park(blocker, resource, request, now + next, next);
                    }
                }
            }
        } finally {
            if (added != null) {
                resources.waits.ended(added);
            }
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        Supplier<RuntimeException> failure = request.failure();
        if (failure != null) {
            throw failure.get();
        }
        return request.hold();
    }

    private void park(Object blocker, LocalSynchronizer resource, Request request, long deadline, long left) {
        if (request.isWatching()) {
            LockSupport.parkNanos(blocker, WATCH_NANOS);
            resource.poll(request);
        } else if (left > TotalWait.FOREVER / 2) {
            LockSupport.park(blocker);
        } else {
            resources.context.environment().parkUntil(blocker, deadline);
        }
    }

    /** Acquires a hold that owns itself; the stage completes on the callback executor. Never blocks. */
    public CompletionStage<Hold> enter(AcquireTerms terms) {
        return enter(terms, Audience.USER, null);
    }

    /**
     * The same for the engine itself: dependents run on the thread that ends it, within the {@link Trampoline}, and
     * never wait for users' code.
     */
    public CompletableFuture<Hold> enterForEngine(AcquireTerms terms) {
        return enter(terms, Audience.ENGINE, null);
    }

    /**
     * As {@link #enterForEngine(AcquireTerms)}, for a thread that may wait for the future.
     *
     * @param caller whether the calling thread waits, so that it may carry the command to the store
     */
    public CompletableFuture<Hold> enterForEngine(AcquireTerms terms, CallerMode caller) {
        return enter(terms, Audience.ENGINE, caller == CallerMode.BLOCKING ? Thread.currentThread() : null);
    }

    private CompletableFuture<Hold> enter(AcquireTerms terms, Audience audience, @Nullable Thread waiter) {
        CompletableFuture<Hold> future = new CompletableFuture<>();
        AcquisitionObserver observer = observe(Call.ASYNC);
        Request request = new Request(resources.context, mode, name, waiter, future, terms, audience, observer);
        if (observer != null) {
            var unused = future.whenComplete((hold, failure) -> notify(observer, terms, hold, failure));
        }
        try {
            resources.requireSupported(terms.lease(), name);
            AsyncWait.begin(resources, mode.spec(), request, future);
        } catch (Throwable t) {
            // If it was queued before that, its hold is released: the stage has failed.
            request.runForStage(() -> future.completeExceptionally(t));
        }
        return future;
    }

    private static void notify(
            AcquisitionObserver observer, AcquireTerms terms, @Nullable Hold hold, @Nullable Throwable failure) {
        if (hold instanceof LocalHold granted) {
            observer.granted(granted.rawToken());
        } else if (failure instanceof CancellationException) {
            observer.notGranted(WaitEnd.CANCELLED);
        } else {
            observer.notGranted(failure instanceof LockWaitTimeoutException ? waitEnd(terms) : WaitEnd.FAILED);
        }
    }

    private static WaitEnd waitEnd(AcquireTerms terms) {
        return terms.isTry() ? WaitEnd.TAKEN : WaitEnd.TIMED_OUT;
    }
}
