package com.example.metrics;

import dev.holdfast.Holdfast;
import dev.holdfast.micrometer.HoldfastMetrics;
import dev.holdfast.micrometer.HoldfastObservations;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;

/** Counts a lock that is acquired. */
public final class Program {

    public static void main(String... arguments) throws InterruptedException {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (Holdfast holdfast = Holdfast.builder("memory:")
                .listener(HoldfastMetrics.of(meters))
                .listener(HoldfastObservations.of(ObservationRegistry.create()))
                .build()) {
            holdfast.lock("report").acquire().close();
        }
        double granted = meters.get("holdfast.acquisitions")
                .tag("outcome", "granted")
                .functionCounter()
                .count();
        if (granted != 1) {
            throw new AssertionError("one lock was granted, but " + granted + " were counted");
        }
    }
}
