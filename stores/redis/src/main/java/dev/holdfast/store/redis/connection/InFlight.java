package dev.holdfast.store.redis.connection;

import java.util.concurrent.atomic.AtomicInteger;

/** Counter of the trips that are under way to the servers of a store. Thread-safe. */
public final class InFlight {

    private final AtomicInteger trips = new AtomicInteger();

    public void begins() {
        trips.incrementAndGet();
    }

    public void ends() {
        trips.decrementAndGet();
    }

    /** Whether an answer is to be expected. */
    boolean isUnderWay() {
        return trips.get() > 0;
    }
}
