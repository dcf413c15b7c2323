package dev.holdfast.benchmarks;

import java.io.IOException;

/** Starts a JVM of its own for a process that takes part in a cell. */
@FunctionalInterface
interface Launcher {

    /**
     * Starts it.
     *
     * @param part one of {@link Workload#parts()}
     * @throws IOException if the JVM can't be started
     */
    Jvm start(Workload workload, Cell part, Bench bench) throws IOException;
}
