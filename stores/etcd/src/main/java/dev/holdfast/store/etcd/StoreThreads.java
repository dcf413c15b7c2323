package dev.holdfast.store.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads of one store apart from that of its connections: a timer, and one for blocking tasks. */
final class StoreThreads implements AutoCloseable {

    private static final Duration IDLE = Duration.ofSeconds(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, named("holdfast-etcd-timer"));
    private final ThreadPoolExecutor lookups = new ThreadPoolExecutor(
            1, 1, IDLE.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("holdfast-etcd-lookup"));

    StoreThreads() {
        timer.setRemoveOnCancelPolicy(true);
        lookups.allowCoreThreadTimeOut(true);
    }

    private ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            threads.removeIf(before -> before.getState() == Thread.State.TERMINATED);
            threads.add(thread);
            return thread;
        };
    }

    /** Runs a task after a pause, unless the threads have ended. */
    Future<?> after(Duration pause, Runnable task) {
        try {
            return timer.schedule(task, pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.completedFuture(null);
        }
    }

    /** The executor for lookups of host names and passwords. */
    Executor lookups() {
        return lookups;
    }

    /** Ends both and waits for that, but not without bound for a lookup that can't be interrupted. */
    @Override
    public void close() {
        timer.shutdownNow();
        lookups.shutdownNow();
        try {
            for (Thread thread : threads) {
                if (thread != Thread.currentThread()) {
                    thread.join(CLOSE_TIMEOUT.toMillis());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
