package dev.holdfast.store.ledger.runtime;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads of one store, which it waits for when it is closed. Thread-safe. */
public final class JoinableThreads implements NamedThreadFactory {

    /** Longer than a round trip waits for a busy database. A thread blocked on a silent server has its own time-out. */
    private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(6);

    private final NamedThreadFactory source;
    private final Set<Thread> made = ConcurrentHashMap.newKeySet();

    public JoinableThreads(NamedThreadFactory source) {
        this.source = source;
    }

    @Override
    public Thread make(Runnable work, String name) {
        made.removeIf(thread -> thread.getState() == Thread.State.TERMINATED);
        Thread thread = source.make(work, name);
        made.add(thread);
        return thread;
    }

    /** An executor with a thread for each task under way; idle threads end after a few seconds. */
    public ExecutorService executor(String name) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 5, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> make(work, name));
    }

    /**
     * Waits until all threads except the calling one have ended, or time is up. An interrupt is restored afterwards.
     */
    public void awaitEnd() {
        long deadline = SystemClock.nanoTime() + MAX_WAIT_NANOS;
        boolean interrupted = false;
        for (Thread thread : made) {
            long left = deadline - SystemClock.nanoTime();
            while (thread != Thread.currentThread() && thread.isAlive() && left > 0) {
                try {
                    // At least 1 ms, because 0 would wait forever.
                    thread.join(1 + TimeUnit.NANOSECONDS.toMillis(left));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                left = deadline - SystemClock.nanoTime();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
