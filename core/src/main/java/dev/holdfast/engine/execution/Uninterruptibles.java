package dev.holdfast.engine.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits that an interrupt does not end; the flag is set again afterwards. */
public final class Uninterruptibles {

    private Uninterruptibles() {}

    /** A wait that an interrupt ends, and that can be repeated. */
    @FunctionalInterface
    public interface Wait {
        void await() throws InterruptedException;
    }

    /** Waits, and repeats the wait after an interrupt. */
    public static void run(Wait wait) {
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    wait.await();
                    return;
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static <T> T uninterruptibly(CompletableFuture<T> future) throws ExecutionException {
        try {
            return uninterruptibly(future, Long.MAX_VALUE);
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    public static <T> T uninterruptibly(CompletableFuture<T> future, long nanos)
            throws ExecutionException, TimeoutException {
        Trampoline.flush();
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    return future.get(nanos, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
