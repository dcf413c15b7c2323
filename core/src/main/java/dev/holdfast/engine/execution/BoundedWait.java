package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/** A wait for a future that is bounded by the environment's clock. */
public final class BoundedWait {

    private BoundedWait() {}

    /**
     * Parks until a future has completed or the time has passed. An interrupt does not end the wait; the flag is set
     * again.
     *
     * @param nanos the longest wait
     * @return whether the future has completed
     */
    public static boolean await(Environment environment, CompletableFuture<?> future, long nanos) {
        Trampoline.flush();
        long deadline = environment.monotonicNanos() + nanos;
        Thread waiter = Thread.currentThread();
        var unused = future.whenComplete((value, failure) -> LockSupport.unpark(waiter));
        boolean wasInterrupted = false;
        while (!future.isDone() && deadline - environment.monotonicNanos() > 0) {
            environment.parkUntil(future, deadline);
            wasInterrupted |= Thread.interrupted();
        }
        if (wasInterrupted) {
            waiter.interrupt();
        }
        return future.isDone();
    }
}
