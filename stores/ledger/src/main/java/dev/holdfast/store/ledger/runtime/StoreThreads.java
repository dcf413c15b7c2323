package dev.holdfast.store.ledger.runtime;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads of one store, which it waits for when it is closed. Thread-safe. */
public final class StoreThreads implements NamedThreadFactory {

    /**
     * Longer than a trip waits for a busy database. A thread that hangs at a silent server ends by a time-out of its
     * own.
     */
    private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(6);

    private final NamedThreadFactory source;
    private final Set<Thread> made = ConcurrentHashMap.newKeySet();

    public StoreThreads(NamedThreadFactory source) {
        this.source = source;
    }

    @Override
    public Thread make(Runnable work, String name) {
        made.removeIf(thread -> thread.getState() == Thread.State.TERMINATED);
        Thread thread = source.make(work, name);
        made.add(thread);
        return thread;
    }

    /** An executor with as many threads as there is work for at a time, none of which idles for long. */
    public ExecutorService executor(String name) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 5, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> make(work, name));
    }

    /** Waits until all have ended that were told to, but the calling one. An interrupt is kept for later. */
    public void awaitEnd() {
        long deadline = SystemTime.nanoTime() + MAX_WAIT_NANOS;
        boolean interrupted = false;
        for (Thread thread : made) {
            long left = deadline - SystemTime.nanoTime();
            while (thread != Thread.currentThread() && thread.isAlive() && left > 0) {
                try {
                    // At least one, since none would be for ever.
                    thread.join(1 + TimeUnit.NANOSECONDS.toMillis(left));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                left = deadline - SystemTime.nanoTime();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
