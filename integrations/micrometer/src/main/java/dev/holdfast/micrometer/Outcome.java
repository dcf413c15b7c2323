package dev.holdfast.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The number of requests with one outcome, and their waits. A separate counter is needed, since the count of the timer
 * restarts with each step of a registry that pushes. Thread-safe.
 */
final class Outcome {

    private final LongAdder requests = new LongAdder();
    private final Timer wait;

    Outcome(MeterRegistry registry, Tags tags) {
        wait = Timer.builder("holdfast.wait")
                .description("Time from the request for a lock to its grant, or to the end of the wait")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("holdfast.acquisitions", requests, LongAdder::doubleValue)
                .description("Requests for locks that have ended, by outcome")
                .tags(tags)
                .register(registry);
    }

    void count() {
        requests.increment();
    }

    void waited(long nanos) {
        wait.record(nanos, TimeUnit.NANOSECONDS);
    }

    long requests() {
        return requests.sum();
    }
}
