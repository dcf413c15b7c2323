package dev.holdfast.store.redis.connection;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the requests in flight to a store's servers. Thread-safe. */
public final class InFlight {

    private final AtomicInteger count = new AtomicInteger();

    public void begins() {
        count.incrementAndGet();
    }

    public void ends() {
        count.decrementAndGet();
    }

    /** Whether a reply is expected. */
    boolean isUnderWay() {
        return count.get() > 0;
    }
}
