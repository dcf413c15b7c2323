package dev.holdfast.benchmarks.harness;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Locks one new name after another, for the use of one thread. */
public final class EachOnce implements Contestant.Mutex {

    private final Contestant.Client client;
    private final AtomicLong names;
    private Contestant.@Nullable Mutex present;

    /**
     * Locks for one thread.
     *
     * @param names counts the names that all threads have used
     */
    public EachOnce(Contestant.Client client, AtomicLong names) {
        this.client = client;
        this.names = names;
    }

    /** Returns no token: those of different names are not comparable. */
    @Override
    public long acquire() throws InterruptedException {
        Contestant.Mutex next = client.mutex("tenant-7/order-" + names.getAndIncrement());
        present = next;
        var unused = next.acquire();
        return NO_TOKEN;
    }

    @Override
    public void release() {
        Contestant.Mutex mutex = present;
        present = null;
        if (mutex != null) {
            mutex.release();
        }
    }
}
