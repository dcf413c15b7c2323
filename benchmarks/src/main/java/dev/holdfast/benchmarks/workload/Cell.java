package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Sheet;
import java.time.Duration;

/**
 * One thing to measure, in a fresh JVM.
 *
 * @param id what the command line and the figures call it, within its workload
 * @param isOfPeer whether it measures somebody else's lock: if that fails, it is told, and the run goes on
 * @param preparation how long it may take to make ready what is measured, beside what every cell may take
 */
public record Cell(String id, boolean isOfPeer, Duration preparation, Body body) {

    public Cell(String id, boolean isOfPeer, Body body) {
        this(id, isOfPeer, Duration.ZERO, body);
    }

    public Cell(String id, Body body) {
        this(id, false, body);
    }

    /** Measures. */
    @FunctionalInterface
    public interface Body {
        void run(Bench bench, Sheet sheet) throws Exception;
    }
}
