package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Jvm;
import java.io.IOException;

/** Starts a JVM of its own for a process that takes part in a cell. */
@FunctionalInterface
public interface Launcher {

    /**
     * Starts it.
     *
     * @param part one of {@link Workload#parts()}
     * @throws IOException if the JVM can't be started
     */
    Jvm start(Workload workload, Cell part, Bench bench) throws IOException;
}
