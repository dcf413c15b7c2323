package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.LocalPeers;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;

/** Threads of one process that contend for one lock. */
final class HotLock {

    private static final List<Contestant> OURS = List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL);
    private static final List<Contestant> ALL =
            List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL, LocalPeers.JDK_FAIR, LocalPeers.JDK_UNFAIR);
    private static final int FEW = 2;
    private static final int MANY = 500;
    private static final List<Integer> THREADS = List.of(FEW, 64, MANY);

    private HotLock() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "hot-lock",
                "One hot lock in one process",
                "Threads acquire and release one lock without a break; what it protects is a counter. Every pair has a"
                        + " hold and a fencing token of its own. *Spread* is what the fastest thread did, divided by"
                        + " what the slowest did. The JDK's `ReentrantLock`, which holds in one process only and has no"
                        + " tokens, is there for orientation.");
        for (int threads : THREADS) {
            // Two threads hardly meet at the JDK's locks, so there would be nothing to compare.
            for (Contestant contestant : threads == FEW ? OURS : ALL) {
                String cell = contestant.title() + "-" + threads;
                workload.cell(cell, (bench, measurements) -> measure(contestant, threads, bench, measurements));
                Figure pairs = Figure.of(cell, "pairs", Unit.PER_SECOND, "pairs/s");
                Figure spread = Figure.ratio(cell, "spread", "fastest", "slowest");
                Figure wait = Figure.of(cell, "p99.9 wait", Unit.NANOS, "p99.9");
                if (contestant.isPeer()) {
                    workload.show(pairs, spread, wait);
                } else {
                    workload.show(
                            pairs.atLeast(500_000),
                            spread.atMost(3),
                            threads == MANY ? wait.atMost(0.5e9) : wait,
                            Figure.of(cell, "longest wait timed", Unit.NANOS, "max"));
                }
            }
        }
        Plot plot = new Plot("hot-lock", workload.title(), "threads", true, "pairs a second", Unit.PER_SECOND);
        ALL.forEach(contestant -> plot.lines()
                .add(Plot.Line.of(
                        contestant.title(),
                        THREADS,
                        threads -> new Figure.Term(contestant.title() + "-" + threads, "pairs/s"))));
        workload.plots().add(plot);
        return workload;
    }

    private static void measure(Contestant contestant, int threads, Bench bench, Measurements measurements)
            throws Exception {
        Guarded guarded = Guarded.inMemory();
        try (Contestant.Client client = contestant.connect(bench.place())) {
            Workers.Tally tally = Workers.of(bench, threads, unused -> new Workers.Post(client.mutex("hot"), guarded))
                    .run();
            tally.show(measurements);
            guarded.check(tally.passes(), measurements);
        }
    }
}
