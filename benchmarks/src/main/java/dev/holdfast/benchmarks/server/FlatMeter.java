package dev.holdfast.benchmarks.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The meter of a server on which no operation runs inside another: two readings are enough for a sample. */
interface FlatMeter extends Meter {

    @Override
    default boolean nests() {
        return false;
    }

    @Override
    default Sample sample(Duration time) {
        Reading before = read();
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Sample(Math.round(read().since(before).operations()), 0);
    }
}
