package dev.holdfast.engine.wire;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The durations of the latest round trips, for the margin of leases and the order of requests. Thread-safe; concurrent
 * writes may make the results inexact, which is harmless.
 */
public final class RoundTrips {

    private static final int KEPT = 128;

    private final AtomicLongArray nanos = new AtomicLongArray(KEPT);
    private final AtomicInteger next = new AtomicInteger();

    /** Over about eight. */
    private final AtomicLong average = new AtomicLong();

    void note(long roundTripNanos) {
        long before = average.getPlain();
        average.setPlain(before == 0 ? roundTripNanos : before + (roundTripNanos - before) / 8);
        nanos.setPlain((next.getAndIncrement() & Integer.MAX_VALUE) % KEPT, roundTripNanos);
    }

    long average() {
        return average.getPlain();
    }

    /** The 99th percentile of the latest 128 round trips; 0 before the first. */
    long p99() {
        long[] copy = new long[KEPT];
        for (int i = 0; i < KEPT; i++) {
            copy[i] = nanos.getPlain(i);
        }
        Arrays.sort(copy);
        return copy[KEPT - 2];
    }
}
