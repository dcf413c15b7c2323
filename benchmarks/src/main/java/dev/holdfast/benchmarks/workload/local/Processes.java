package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.List;

/** Several processes, with several threads each, that contend for one lock. */
final class Processes {

    private static final String ID = "processes";
    private static final int PROCESSES = 4;
    private static final int THREADS = 4;
    private static final Duration WARM_UP = Duration.ofSeconds(4);
    private static final String PASSES = "passes";

    private Processes() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                ID,
                "One hot lock in several processes",
                String.format(
                        "%d processes with %d threads each acquire and release one lock without a break. *Spread* is"
                                + " what the fastest process did, divided by what the slowest did; the waits are those"
                                + " of the process in which they are longest. The window opens %d s after all processes"
                                + " have started.",
                        PROCESSES, THREADS, WARM_UP.toSeconds()));
        for (Contestant contestant : List.of(Holdfasts.SQLITE_FULL, Holdfasts.SQLITE_NORMAL)) {
            String cell = contestant.title();
            String process = cell + "-process";
            workload.part(process, (bench, measurements) -> takePart(contestant, bench, measurements));
            workload.cell(cell, (bench, measurements) -> measure(process, bench, measurements));
            workload.show(
                    Figure.of(cell, "pairs", Unit.PER_SECOND, "pairs/s"),
                    Figure.of(cell, "spread", Unit.TIMES, "spread"),
                    Figure.of(cell, "median wait", Unit.NANOS, "p50"),
                    Figure.of(cell, "p99 wait", Unit.NANOS, "p99"),
                    Figure.of(cell, "longest wait timed", Unit.NANOS, "max"));
        }
        return workload;
    }

    private static void takePart(Contestant contestant, Bench bench, Measurements measurements) throws Exception {
        Guarded guarded = Guarded.inFile(bench.place());
        try (Contestant.Client client = contestant.connect(bench.place())) {
            Workers.Tally tally = Workers.of(
                            Gathering.join(bench), THREADS, unused -> new Workers.Post(client.mutex("hot"), guarded))
                    .runFromBegin();
            tally.show(measurements);
            measurements.put(PASSES, tally.passes());
        }
    }

    private static void measure(String process, Bench bench, Measurements measurements) throws Exception {
        try (Gathering processes = Gathering.of(bench.scaledOverOne(PROCESSES), ID, process, bench)) {
            var unused = processes.open(WARM_UP);
            List<Measurements> all = processes.measurements();
            measurements.combine(all);
            Guarded.inFile(bench.place()).check(Math.round(Measurements.sum(all, PASSES)), measurements);
        }
    }
}
