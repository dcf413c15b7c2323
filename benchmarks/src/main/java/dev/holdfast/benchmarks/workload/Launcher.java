package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Jvm;
import java.io.IOException;
import java.util.List;

/** Starts the JVM of a process that takes part in a cell. */
@FunctionalInterface
public interface Launcher {

    /**
     * Starts it.
     *
     * @param prefix a command that starts the JVM, such as {@code taskset}; usually empty
     * @param part the id of one of {@link Workload#parts()}
     * @throws IOException if the JVM can't be started
     */
    Jvm start(List<String> prefix, String workload, String part, Bench bench) throws IOException;

    /** Starts several JVMs, which begin at the same time. */
    default Gathering gather(int count, String workload, String part, Bench bench) throws IOException {
        return Gathering.of(count, bench, () -> start(List.of(), workload, part, bench));
    }
}
