package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a server did in a window. */
public final class Usage implements Workers.WindowListener, AutoCloseable {

    private static final Duration SAMPLE = Duration.ofMillis(200);
    private static final Duration SAMPLE_OF_A_TRIAL = Duration.ofMillis(20);

    /** When to give up if nothing is seen. */
    private static final Duration MOST_SAMPLES = Duration.ofSeconds(2);

    private final Meter meter;
    private final Duration length;
    private Meter.@Nullable Reading before;
    private Meter.@Nullable Reading used;
    private Meter.@Nullable Sample sample;

    public Usage(Servers.Kind kind, Bench bench) {
        this.meter = Meter.of(kind, bench.place());
        this.length = bench.isTrial() ? SAMPLE_OF_A_TRIAL : SAMPLE;
    }

    @Override
    public void begin() {
        before = meter.read();
    }

    @Override
    public void end() {
        read();
        sample();
    }

    /** The end of the window. */
    public void read() {
        Meter.Reading begin = before;
        used = begin == null ? null : meter.read().since(begin);
    }

    /** Samples what the server is asked for, under the same load as in the window; repeats that if nothing is seen. */
    public void sample() {
        if (!meter.nests()) {
            return;
        }
        long begin = System.nanoTime();
        Meter.Sample seen;
        do {
            seen = meter.sample(length);
        } while (seen.commands() + seen.inner() == 0 && System.nanoTime() - begin < MOST_SAMPLES.toNanos());
        sample = seen;
    }

    /** Reports the cost of each pair to the server, without some other commands that belonged to none. */
    public void show(long pairs, double others, Measurements measurements) {
        Meter.Reading all = used;
        if (all == null || pairs <= 0) {
            return;
        }
        measurements.put("server cpu", all.cpuNanos() / pairs);
        Meter.Sample parts = sample;
        if (!meter.nests()) {
            measurements.put("commands", Math.max(0, all.operations() - others) / pairs);
            measurements.put("commits", Math.max(0, all.commits() - others) / pairs);
        } else if (parts != null && parts.commands() + parts.inner() > 0) {
            double seen = (double) parts.commands() + parts.inner();
            double commands = all.operations() * (parts.commands() / seen);
            measurements.put("commands", Math.max(0, commands - others) / pairs);
            measurements.put("in scripts", all.operations() * (parts.inner() / seen) / pairs);
        }
    }

    @Override
    public void close() {
        meter.close();
    }
}
