package dev.holdfast.benchmarks.harness;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Locks under one new name after another, in the hands of one thread. */
public final class EachOnce implements Contestant.Mutex {

    private final Contestant.Client client;
    private final AtomicLong names;
    private Contestant.@Nullable Mutex present;

    /**
     * Of a client.
     *
     * @param names how many have been used, by whatever thread
     */
    public EachOnce(Contestant.Client client, AtomicLong names) {
        this.client = client;
        this.names = names;
    }

    /** Tokens of different names are not compared. */
    @Override
    public long acquire() throws InterruptedException {
        Contestant.Mutex next = client.mutex("tenant-7/order-" + names.getAndIncrement());
        present = next;
        var unused = next.acquire();
        return NO_TOKEN;
    }

    @Override
    public void release() {
        Contestant.Mutex held = present;
        present = null;
        if (held != null) {
            held.release();
        }
    }
}
