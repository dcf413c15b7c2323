package dev.holdfast.micrometer;

import dev.holdfast.Holdfast;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;

/** What the page of the metrics shows, compiled. */
@SuppressWarnings("unused")
final class MetricsExamples {

    private MetricsExamples() {}

    static Holdfast connect(MeterRegistry meters, ObservationRegistry observations) {
        Holdfast holdfast = Holdfast.builder("postgresql://db/orders")
                .listener(HoldfastMetrics.builder(meters).client("orders").build())
                .listener(HoldfastObservations.of(observations))
                .build();
        return holdfast;
    }

    static HoldfastMetrics named(MeterRegistry meters) {
        HoldfastMetrics metrics = HoldfastMetrics.builder(meters)
                .lockNames(List.of("nightly-report", "invoice-run"))
                .build();
        return metrics;
    }
}
