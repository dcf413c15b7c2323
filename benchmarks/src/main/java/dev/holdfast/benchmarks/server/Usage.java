package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Sheet;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a server did in a window. */
public final class Usage implements Crew.Watch, AutoCloseable {

    private static final Duration SAMPLE = Duration.ofMillis(200);
    private static final Duration SAMPLE_OF_A_TRIAL = Duration.ofMillis(20);

    /** So long at the most, if nothing is seen. */
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

    /**
     * Sees what the server is asked for, at a time at which it has as much to do as in the window; again, if nothing
     * was seen.
     */
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

    /** Puts what each of so many pairs cost the server on a sheet. */
    public void show(long pairs, Sheet sheet) {
        show(pairs, 0, sheet);
    }

    /** As {@link #show(long, Sheet)}, where so many commands did not belong to it. */
    public void show(long pairs, double others, Sheet sheet) {
        Meter.Reading all = used;
        if (all == null || pairs <= 0) {
            return;
        }
        sheet.put("server cpu", all.cpuNanos() / pairs);
        Meter.Sample parts = sample;
        if (!meter.nests()) {
            sheet.put("commands", Math.max(0, all.operations() - others) / pairs);
            sheet.put("commits", Math.max(0, all.commits() - others) / pairs);
        } else if (parts != null && parts.commands() + parts.inner() > 0) {
            double seen = (double) parts.commands() + parts.inner();
            double commands = all.operations() * (parts.commands() / seen);
            sheet.put("commands", Math.max(0, commands - others) / pairs);
            sheet.put("in scripts", all.operations() * (parts.inner() / seen) / pairs);
        }
    }

    @Override
    public void close() {
        meter.close();
    }
}
