package dev.holdfast.verification.world;

import dev.holdfast.Environment;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The system's time, with threads whose stacks are half as large as usual. */
public final class SmallStacks implements Environment, AutoCloseable {

    private static final long STACK_BYTES = 512 * 1024;
    private static final int CALLBACK_THREADS = 4;

    private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(1, threads("small-timer"));
    private final ExecutorService callbacks = Executors.newFixedThreadPool(CALLBACK_THREADS, threads("small-callback"));

    /** Runs something on a thread with such a stack, and returns what came of it. */
    public static <T> CompletableFuture<T> call(Callable<T> what) {
        CompletableFuture<T> result = new CompletableFuture<>();
        threads("small-caller")
                .newThread(() -> {
                    try {
                        result.complete(what.call());
                    } catch (Throwable t) {
                        result.completeExceptionally(t);
                    }
                })
                .start();
        return result;
    }

    private static ThreadFactory threads(String name) {
        return task -> {
            Thread thread = new Thread(null, task, name, STACK_BYTES);
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public long monotonicNanos() {
        return System.nanoTime();
    }

    @Override
    public long bootNanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        ScheduledFuture<?> future = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public Executor callbacks() {
        return callbacks;
    }

    @Override
    public long randomLong() {
        return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public void close() {
        timers.shutdownNow();
        callbacks.shutdown();
    }
}
