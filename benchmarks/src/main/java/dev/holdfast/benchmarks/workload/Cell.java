package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Measurements;
import java.time.Duration;

/**
 * One measurement, in a fresh JVM.
 *
 * @param id its name within the workload
 * @param isOfPeer whether it measures a lock of others: if that fails, it is reported, and the run continues
 * @param preparation extra time that it may take before it measures
 */
public record Cell(String id, boolean isOfPeer, Duration preparation, Body body) {

    public Cell(String id, Body body) {
        this(id, false, Duration.ZERO, body);
    }

    /** The cell of a contestant. */
    public static Cell of(Contestant contestant, String id, Body body) {
        return new Cell(id, contestant.isPeer(), Duration.ZERO, body);
    }

    public Cell withPreparation(Duration extra) {
        return new Cell(id, isOfPeer, extra, body);
    }

    /** Measures. */
    @FunctionalInterface
    public interface Body {
        void run(Bench bench, Measurements measurements) throws Exception;
    }
}
