package dev.holdfast.engine.execution;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/*
 * Dependents of a stage run on the thread that completes it. With a fixed number of threads, the same number of
 * dependents that block would delay the grants and time-outs of all others, and deadlock if they waited for one of
 * these. A thread for each callback costs more than most callbacks, which take microseconds. Therefore a few threads
 * run them, and more are started when a callback has waited, up to a limit. A program that blocks in more callbacks
 * needs its own executor.
 */

/** Runs callbacks on a few threads, and on more when callbacks block. Thread-safe. */
final class CallbackPool implements Executor {

    private static final int FEW_THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());

    /** The number of callbacks that may block before others wait for them. */
    private static final int MAX_THREADS = Math.max(256, FEW_THREADS);

    private static final long IDLE_SECONDS = 10;

    /** Far longer than a callback that does not block, and much shorter than the time-outs that would be late. */
    private static final long WAIT_MILLIS = 5;

    private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
    private final ThreadPoolExecutor pool;
    private final ScheduledExecutorService timers;

    /** A task whose wait is measured; null while none waits. */
    private final AtomicReference<@Nullable Task> sample = new AtomicReference<>();

    CallbackPool(ScheduledExecutorService timers, ThreadFactory threads) {
        this.timers = timers;
        pool = new ThreadPoolExecutor(FEW_THREADS, MAX_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, queue, threads);
        pool.allowCoreThreadTimeOut(true);
    }

    private static final class Task implements Runnable {
        private final Runnable action;
        private volatile boolean hasBegun;

        Task(Runnable action) {
            this.action = action;
        }

        @Override
        public void run() {
            hasBegun = true;
            action.run();
        }
    }

    @Override
    public void execute(Runnable action) {
        Task task = new Task(action);
        pool.execute(task);
        measure(task);
    }

    private void measure(Task task) {
        if (!task.hasBegun && sample.get() == null && sample.compareAndSet(null, task)) {
            var unused = timers.schedule(this::growIfLate, WAIT_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void growIfLate() {
        Task task = sample.getAndSet(null);
        if (task != null && !task.hasBegun) {
            grow(2 * pool.getPoolSize());
        }
        // Tasks that came during the measurement were not measured.
        if (queue.peek() instanceof Task next) {
            measure(next);
        }
    }

    /** Starts threads for queued tasks. They end when they are idle. */
    private synchronized void grow(int threads) {
        pool.setCorePoolSize(Math.min(threads, MAX_THREADS));
        pool.setCorePoolSize(FEW_THREADS);
    }

    /** Ends threads as soon as they are idle. Later tasks are still run, and wait for no others. */
    void close() {
        pool.setCorePoolSize(MAX_THREADS);
        pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
