package dev.holdfast.engine.local;

import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
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

/**
 * The way to the resource of one resource for those who want it in one mode: they wait as a thread that parks or as a
 * stage. Thread-safe.
 */
public record Acquirer(LocalResources resources, ResourceName name, Mode mode) {

    /**
     * How long the head of the queue sleeps between two looks during another's turn: about what the system needs to
     * wake a thread.
     */
    private static final long WATCH_NANOS = 50_000;

    /**
     * Parks until a hold is granted.
     *
     * @param face what the caller knows of all this: what its thread seems to park for
     * @return null if others kept the resource for all of the wait
     */
    @Nullable
    public LocalHold await(Object face, AcquireTerms terms) throws InterruptedException {
        return awaitObserved(face, request(terms));
    }

    /**
     * As {@link #await(Object, AcquireTerms)}, and says who is in the way.
     *
     * @throws LockWaitTimeoutException if others kept the resource for all of the wait
     */
    public LocalHold awaitOrTimeOut(Object face, AcquireTerms terms) throws InterruptedException {
        Request request = request(terms);
        LocalHold hold = awaitObserved(face, request);
        if (hold != null) {
            return hold;
        }
        throw request.isTry || request.overdueAfter != null
                ? RequestCompletion.takenOrTimedOut(resources.context, request)
                : resources.lookup.timedOut(
                        resources.partition(name), name, Duration.ofNanos(terms.waitNanos()), Long.MAX_VALUE);
    }

    private Request request(AcquireTerms terms) {
        resources.requireSupported(terms.lease(), name);
        AcquisitionObserver observer =
                resources.context.observers().begin(name, mode.spec().kind(), mode.weight());
        return new Request(mode, name, Thread.currentThread(), null, terms, false, observer);
    }

    private @Nullable LocalHold awaitObserved(Object face, Request request) throws InterruptedException {
        AcquisitionObserver observer = request.observer;
        if (observer == null) {
            return await(face, request);
        }
        WaitEnd end = WaitEnd.FAILED;
        LocalHold hold = null;
        try {
            hold = await(face, request);
            end = inVain(request.terms);
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

    private @Nullable LocalHold await(Object face, Request request) throws InterruptedException {
        try {
            return awaitEnd(face, request);
        } catch (Error | RuntimeException e) {
            giveUp(request);
            throw e;
        }
    }

    /** The caller leaves with an exception, so that nobody would give back what it may be granted. */
    private void giveUp(Request request) {
        LocalSynchronizer resource = resources.resource(name);
        if (resource != null && !request.isDone()) {
            Failsafe.run("the end of a wait", () -> RequestCancellation.cancel(resource, request));
        }
        LocalHold hold = request.isDone() ? request.hold() : null;
        if (hold != null) {
            Failsafe.run("giving back what nobody took", () -> {
                var unused = hold.giveBack(CallerMode.ASYNC);
            });
        }
    }

    private @Nullable LocalHold awaitEnd(Object face, Request request) throws InterruptedException {
        long waitNanos = request.terms.waitNanos();
        long deadline = resources.context.environment().monotonicNanos()
                + RequestCompletion.limitOf(resources.context, request);
        LocalSynchronizer resource = resources.enter(name, mode.spec(), request);
        if (request.isAskedFor) {
            resources
                    .context
                    .spin()
                    .until(
                            () -> request.isDone() || !request.isAskedFor,
                            deadline - resources.context.environment().monotonicNanos());
        }
        boolean wasInterrupted = false;
        boolean isOvertime = request.isTry;
        try {
            while (true) {
                Trampoline.flush();
                boolean isInterrupted = Thread.interrupted();
                wasInterrupted |= isInterrupted;
                long left = deadline - resources.context.environment().monotonicNanos();
                // Looked at last: a lock that was waited for since then could have used up the wake-up that is meant
                // for the parking below.
                if (request.isDone()) {
                    break;
                }
                if (isInterrupted && request.terms.isInterruptible()) {
                    if (RequestCancellation.cancel(resource, request)) {
                        wasInterrupted = false;
                        throw new InterruptedException("interrupted while waiting for lock '" + name + "'");
                    }
                } else if (left <= 0
                        && !isOvertime
                        && RequestCancellation.awaitAnswer(resource, request, Duration.ofNanos(waitNanos))) {
                    isOvertime = true;
                    deadline += RequestCompletion.overtimeNanos(resources.context, request);
                } else if (left <= 0) {
                    boolean wasUnanswered = request.isTry || RequestCancellation.isUnanswered(resource, request);
                    if (RequestCancellation.cancel(resource, request)) {
                        if (wasUnanswered) {
                            throw RequestCompletion.unanswered(resource, request);
                        }
                        return null;
                    }
                } else {
                    park(face, resource, request, deadline, left);
                }
            }
        } finally {
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

    private void park(Object face, LocalSynchronizer resource, Request request, long deadline, long left) {
        if (request.isWatching) {
            LockSupport.parkNanos(face, WATCH_NANOS);
            HandOff.look(resource, request);
        } else if (left > TotalWait.FOREVER / 2) {
            LockSupport.park(face);
        } else {
            resources.context.environment().parkUntil(face, deadline);
        }
    }

    /** Asks for a hold that owns itself, for a user, who is told on the callback executor; never blocks. */
    public CompletionStage<Hold> enter(AcquireTerms terms) {
        return enter(terms, false, null);
    }

    /**
     * The same for the engine itself: what depends on it runs on the thread that ends it, within the
     * {@link Trampoline}, and waits for no code of users.
     */
    public CompletableFuture<Hold> enterForEngine(AcquireTerms terms) {
        return enter(terms, true, null);
    }

    /**
     * As {@link #enterForEngine(AcquireTerms)}, by a thread that may wait for the future.
     *
     * @param caller whether the calling thread waits, so that it may carry the command to the store
     */
    public CompletableFuture<Hold> enterForEngine(AcquireTerms terms, CallerMode caller) {
        return enter(terms, true, caller == CallerMode.BLOCKING ? Thread.currentThread() : null);
    }

    private CompletableFuture<Hold> enter(AcquireTerms terms, boolean isOfEngine, @Nullable Thread waiter) {
        CompletableFuture<Hold> future = new CompletableFuture<>();
        AcquisitionObserver observer =
                resources.context.observers().begin(name, mode.spec().kind(), mode.weight());
        Request request = new Request(mode, name, waiter, future, terms, isOfEngine, observer);
        if (observer != null) {
            var unused = future.whenComplete((hold, failure) -> notify(observer, terms, hold, failure));
        }
        try {
            resources.requireSupported(terms.lease(), name);
            AsyncWait.begin(resources, mode.spec(), request, future);
        } catch (Throwable t) {
            // If it was queued before that, the hold is given back: nobody takes it from a stage that has failed.
            RequestCompletion.tell(resources.context, request, () -> future.completeExceptionally(t));
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
            observer.notGranted(failure instanceof LockWaitTimeoutException ? inVain(terms) : WaitEnd.FAILED);
        }
    }

    private static WaitEnd inVain(AcquireTerms terms) {
        return terms.isTry() ? WaitEnd.TAKEN : WaitEnd.TIMED_OUT;
    }
}
