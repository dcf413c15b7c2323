package dev.holdfast.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a server did in a window. */
final class Usage implements Crew.Watch, AutoCloseable {

    private static final Duration SAMPLE = Duration.ofMillis(200);

    private final Meter meter;
    private Meter.@Nullable Reading before;
    private Meter.@Nullable Reading used;
    private Meter.@Nullable Sample sample;

    Usage(Servers.Kind kind, Path place) {
        this.meter = Meter.of(kind, place);
    }

    @Override
    public void begin() {
        before = meter.read();
    }

    @Override
    public void end() {
        Meter.Reading begin = before;
        if (begin != null) {
            used = meter.read().since(begin);
            sample = meter.sample(SAMPLE);
        }
    }

    /** Puts what each of so many pairs cost the server on a sheet. */
    void show(long pairs, Sheet sheet) {
        Meter.Reading all = used;
        Meter.Sample parts = sample;
        if (all != null && parts != null && pairs > 0) {
            double seen = Math.max(1, (double) parts.commands() + parts.inner());
            sheet.put("commands", all.operations() / pairs * (parts.commands() / seen));
            sheet.put("in scripts", all.operations() / pairs * (parts.inner() / seen));
            sheet.put("server cpu", all.cpuNanos() / pairs);
        }
    }

    @Override
    public void close() {
        meter.close();
    }
}
