package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.support.Randomness;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The system's time, threads and randomness: the only place of the engine that reads a clock or starts threads. All
 * threads are daemons.
 */
public final class SystemEnvironment implements Environment, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SystemEnvironment.class);
    private static final long IDLE_THREAD_SECONDS = 10;

    /**
     * The number of listeners that may block before others wait for them. Far more than block in a sound program, and
     * few enough for any machine when all holds of a process are lost at once.
     */
    private static final int LISTENER_THREADS = 256;

    private static final long IDLE_LISTENER_SECONDS = 1;

    /** The duration of a round trip to a nearby server. On a single processor no reply could arrive during a spin. */
    private static final long WAKEFUL_NANOS =
            Runtime.getRuntime().availableProcessors() > 1 ? TimeUnit.MICROSECONDS.toNanos(200) : 0;

    private static final int MAX_LABEL = 128;

    private final ScheduledThreadPoolExecutor timers;
    private final ScheduledThreadPoolExecutor renewals;
    private final CallbackPool callbacks;
    private final ThreadPoolExecutor listeners;
    private final SplittableRandom seeds = new SplittableRandom(Randomness.nextLong());
    private final @Nullable RandomAccessFile uptime;

    /** Starts no thread before one is needed. */
    public SystemEnvironment() {
        timers = timers("holdfast-timer");
        renewals = timers("holdfast-renewal");
        callbacks = new CallbackPool(timers, threads("holdfast-callback"));
        listeners = pool("holdfast-listener", LISTENER_THREADS, IDLE_LISTENER_SECONDS);
        uptime = openUptime();
    }

    /**
     * The description of this process for people: user, host and process id.
     *
     * @param program the prefix; may be empty
     */
    public static String processLabel(String program) {
        String host = System.getenv("HOSTNAME");
        if (host == null || host.isBlank()) {
            host = hostFromKernel();
        }
        String who = (program.isEmpty() ? "" : program + " ") + System.getProperty("user.name", "?") + "@" + host;
        String pid = " pid " + ProcessHandle.current().pid();
        StringBuilder label = new StringBuilder();
        int bytes = pid.length();
        for (int i = 0; i < who.length(); i = who.offsetByCodePoints(i, 1)) {
            int c = who.codePointAt(i);
            String shown = Character.isISOControl(c) ? "?" : Character.toString(c);
            bytes += shown.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > Command.OpenSession.MAX_LABEL_BYTES
                    || label.length() + shown.length() + pid.length() > MAX_LABEL) {
                break;
            }
            label.append(shown);
        }
        return label.append(pid).toString();
    }

    /** Runs a task that may take long or block on a new thread. */
    public static void startThread(String name, Runnable task) {
        Thread thread = new Thread(guarded(task), name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public long monotonicNanos() {
        return System.nanoTime();
    }

    /** {@code /proc/uptime} counts suspended time, in steps of 10 ms; without it, the monotonic clock. */
    @Override
    public long bootNanos() {
        RandomAccessFile file = uptime;
        if (file == null) {
            return System.nanoTime();
        }
        byte[] line = new byte[64];
        int length;
        synchronized (file) {
            try {
                file.seek(0);
                length = file.read(line);
            } catch (IOException e) {
                return System.nanoTime();
            }
        }
        String text = new String(line, 0, Math.max(length, 0), StandardCharsets.US_ASCII);
        int dot = text.indexOf('.');
        if (dot < 0 || text.length() < dot + 3) {
            return System.nanoTime();
        }
        long seconds = Long.parseLong(text, 0, dot, 10);
        long hundredths = Long.parseLong(text, dot + 1, dot + 3, 10);
        return TimeUnit.SECONDS.toNanos(seconds) + TimeUnit.MILLISECONDS.toNanos(hundredths * 10);
    }

    @Override
    public long wallMillis() {
        return wallClock();
    }

    /** The wall clock, in milliseconds since 1970, for what has no environment. */
    public static long wallClock() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return schedule(timers, delayNanos, task);
    }

    @Override
    public Timer scheduleRenewal(long delayNanos, Runnable task) {
        return schedule(renewals, delayNanos, task);
    }

    private static Timer schedule(ScheduledThreadPoolExecutor executor, long delayNanos, Runnable task) {
        ScheduledFuture<?> future = executor.schedule(guarded(task), Math.max(delayNanos, 0), TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public long maxSpinNanos() {
        return WAKEFUL_NANOS;
    }

    @Override
    public Executor callbacks() {
        return task -> callbacks.execute(guarded(task));
    }

    @Override
    public Executor lossListeners() {
        return task -> listeners.execute(guarded(task));
    }

    @Override
    public long randomLong() {
        synchronized (seeds) {
            return seeds.nextLong();
        }
    }

    /**
     * Ends the threads and all timers. A later callback, for example to a listener that is added after the close, still
     * runs, on a thread that ends with it.
     */
    @Override
    public void close() {
        timers.shutdown();
        renewals.shutdown();
        callbacks.close();
        listeners.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
        RandomAccessFile file = uptime;
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                log.debug("closing /proc/uptime failed", e);
            }
        }
    }

    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // A failing task must not end its thread, and with it all timers or renewals.
                log.error("a task of the client failed; this is a bug or an error in a listener", e);
            }
        };
    }

    private static ScheduledThreadPoolExecutor timers(String name) {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, threads(name));
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timers.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        timers.setKeepAliveTime(IDLE_THREAD_SECONDS, TimeUnit.SECONDS);
        return timers;
    }

    /** A pool that starts a thread for each task up to a limit, and ends idle ones. */
    private static ThreadPoolExecutor pool(String name, int threads, long idleSeconds) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, idleSeconds, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static ThreadFactory threads(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    private static @Nullable RandomAccessFile openUptime() {
        try {
            return new RandomAccessFile("/proc/uptime", "r");
        } catch (IOException e) {
            return null;
        }
    }

    private static String hostFromKernel() {
        try (RandomAccessFile file = new RandomAccessFile("/proc/sys/kernel/hostname", "r")) {
            String line = file.readLine();
            return line == null || line.isBlank() ? "localhost" : line.strip();
        } catch (IOException e) {
            return "localhost";
        }
    }
}
