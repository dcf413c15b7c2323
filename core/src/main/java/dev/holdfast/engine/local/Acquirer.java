package dev.holdfast.engine.local;

import dev.holdfast.AcquireOptions;
import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Lease;
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
    public LocalHold await(Object face, Lease lease, boolean isExtendable, long waitNanos, boolean isInterruptible)
            throws InterruptedException {
        resources.requireSupported(lease, name);
        AcquisitionObserver observer =
                resources.context.observers().begin(name, mode.spec().kind(), mode.weight());
        Request request = new Request(
                mode, name, Thread.currentThread(), null, lease, isExtendable, waitNanos == 0, false, observer);
        if (observer == null) {
            return await(face, request, waitNanos, isInterruptible);
        }
        WaitEnd end = WaitEnd.FAILED;
        LocalHold hold = null;
        try {
            hold = await(face, request, waitNanos, isInterruptible);
            end = inVain(waitNanos);
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

    private @Nullable LocalHold await(Object face, Request request, long waitNanos, boolean isInterruptible)
            throws InterruptedException {
        try {
            return awaitEnd(face, request, waitNanos, isInterruptible);
        } catch (Error | RuntimeException e) {
            giveUp(request);
            throw e;
        }
    }

    /** The caller leaves with an exception, so that nobody would give back what it may be granted. */
    private void giveUp(Request request) {
        LocalSynchronizer resource = resources.resource(name);
        if (resource != null && !request.isDone()) {
            Failsafe.run("the end of a wait", () -> resource.cancel(request));
        }
        LocalHold hold = request.isDone() ? request.hold() : null;
        if (hold != null) {
            Failsafe.run("giving back what nobody took", () -> {
                var unused = hold.giveBack(CallerMode.ASYNC);
            });
        }
    }

    private @Nullable LocalHold awaitEnd(Object face, Request request, long waitNanos, boolean isInterruptible)
            throws InterruptedException {
        long deadline = resources.context.environment().monotonicNanos()
                + RequestCompletion.limitOf(resources.context, request, waitNanos);
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
                if (isInterrupted && isInterruptible) {
                    if (resource.cancel(request)) {
                        wasInterrupted = false;
                        throw new InterruptedException("interrupted while waiting for lock '" + name + "'");
                    }
                } else if (left <= 0 && !isOvertime && resource.awaitAnswer(request, Duration.ofNanos(waitNanos))) {
                    isOvertime = true;
                    deadline += TotalWait.OVERTIME_NANOS;
                } else if (left <= 0) {
                    boolean wasUnanswered = request.isTry || resource.isUnanswered(request);
                    if (resource.cancel(request)) {
                        if (wasUnanswered) {
                            throw RequestCompletion.unanswered(resources.context, request, waitNanos);
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
    public CompletionStage<Hold> enter(Lease lease, boolean isExtendable, long waitNanos) {
        return enter(lease, isExtendable, waitNanos, false);
    }

    /**
     * The same for the engine itself: what depends on it runs on the thread that ends it, within the
     * {@link Trampoline}, and waits for no code of users.
     */
    public CompletableFuture<Hold> enterForEngine(Lease lease, boolean isExtendable, long waitNanos) {
        return enter(lease, isExtendable, waitNanos, true);
    }

    /** As {@link #enterForEngine(Lease, boolean, long)}, with the options of a user. */
    public CompletableFuture<Hold> enterForEngine(AcquireOptions options) {
        return enterForEngine(leaseOf(options), isExtendable(options), waitOf(options));
    }

    /**
     * Tries once, for the engine itself: fails with a {@link LockWaitTimeoutException} if others have the resource.
     *
     * @param caller whether the calling thread waits for the future, so that it may carry the command to the store
     */
    public CompletableFuture<Hold> attempt(Lease lease, CallerMode caller) {
        return enter(lease, false, 0, true, caller == CallerMode.BLOCKING ? Thread.currentThread() : null);
    }

    private CompletableFuture<Hold> enter(Lease lease, boolean isExtendable, long waitNanos, boolean isOfEngine) {
        return enter(lease, isExtendable, waitNanos, isOfEngine, null);
    }

    private CompletableFuture<Hold> enter(
            Lease lease, boolean isExtendable, long waitNanos, boolean isOfEngine, @Nullable Thread waiter) {
        CompletableFuture<Hold> future = new CompletableFuture<>();
        AcquisitionObserver observer =
                resources.context.observers().begin(name, mode.spec().kind(), mode.weight());
        Request request =
                new Request(mode, name, waiter, future, lease, isExtendable, waitNanos == 0, isOfEngine, observer);
        if (observer != null) {
            var unused = future.whenComplete((hold, failure) -> notify(observer, waitNanos, hold, failure));
        }
        try {
            resources.requireSupported(lease, name);
            AsyncWait.begin(resources, mode.spec(), request, future, waitNanos);
        } catch (Throwable t) {
            // If it was queued before that, the hold is given back: nobody takes it from a stage that has failed.
            RequestCompletion.tell(resources.context, request, () -> future.completeExceptionally(t));
        }
        return future;
    }

    private static void notify(
            AcquisitionObserver observer, long waitNanos, @Nullable Hold hold, @Nullable Throwable failure) {
        if (hold instanceof LocalHold granted) {
            observer.granted(granted.rawToken());
        } else if (failure instanceof CancellationException) {
            observer.notGranted(WaitEnd.CANCELLED);
        } else {
            observer.notGranted(failure instanceof LockWaitTimeoutException ? inVain(waitNanos) : WaitEnd.FAILED);
        }
    }

    private static WaitEnd inVain(long waitNanos) {
        return waitNanos == 0 ? WaitEnd.TAKEN : WaitEnd.TIMED_OUT;
    }

    public static Lease leaseOf(AcquireOptions options) {
        return options.detachedLease()
                .map(Lease::detached)
                .or(() -> options.fixedLease().or(options::maxHold).map(Lease::bounded))
                .orElse(Lease.SESSION);
    }

    /** Whether the lease is the owner's affair: a bound for a stuck thread is not. */
    public static boolean isExtendable(AcquireOptions options) {
        return options.fixedLease().isPresent() || options.detachedLease().isPresent();
    }

    public static long waitOf(AcquireOptions options) {
        return options.maxWait().map(TotalWait::nanos).orElse(TotalWait.FOREVER);
    }
}
