package dev.holdfast.spi.support;

import dev.holdfast.Environment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The system's time, with one thread for timers that starts with the first one and ends when there are none. */
public final class SystemTime implements Environment, AutoCloseable {

    private final ScheduledThreadPoolExecutor timers;
    private final SplittableRandom random = new SplittableRandom(Randomness.nextLong());

    /**
     * Makes one.
     *
     * @param thread how the thread of the timers is called
     */
    public SystemTime(String thread) {
        timers = new ScheduledThreadPoolExecutor(1, task -> {
            Thread timer = new Thread(task, thread);
            timer.setDaemon(true);
            return timer;
        });
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timers.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        timers.setKeepAliveTime(10, TimeUnit.SECONDS);
        timers.allowCoreThreadTimeOut(true);
    }

    @Override
    public long monotonicNanos() {
        return nanos();
    }

    static long nanos() {
        return System.nanoTime();
    }

    /** How long processors have worked for this process; 0 where the system does not tell. */
    static long processorNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElse(0L);
    }

    /** Nothing here is measured across a sleep of the machine: the client does that. */
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
        ScheduledFuture<?> timer = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    }

    @Override
    public Executor callbacks() {
        return timers;
    }

    @Override
    public synchronized long randomLong() {
        return random.nextLong();
    }

    @Override
    public void close() {
        timers.shutdownNow();
    }
}
