package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.Jdk;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/** Threads of one process that contend for one lock. */
public final class HotLock {

    private static final List<Contestant> OURS = List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL);
    private static final List<Contestant> FOR_ORIENTATION = List.of(Jdk.FAIR, Jdk.UNFAIR);
    private static final int FEW = 2;
    private static final int MANY = 500;
    private static final int[] THREADS = {FEW, 64, MANY};

    private HotLock() {}

    public static Workload workload() {
        List<Cell> cells = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        for (int threads : THREADS) {
            for (Contestant contestant : OURS) {
                Cell cell = cell(contestant, threads);
                Figure wait = Figure.of(cell.id(), "p99.9 wait", Unit.NANOS, "p99.9");
                cells.add(cell);
                figures.addAll(List.of(
                        pairs(cell).atLeast(500_000),
                        spread(cell).atMost(3),
                        threads == MANY ? wait.atMost(0.5e9) : wait,
                        Figure.of(cell.id(), "longest wait timed", Unit.NANOS, "max")));
            }
            // Two threads hardly meet at the JDK's locks, so there would be nothing to compare.
            for (Contestant contestant : threads == FEW ? List.<Contestant>of() : FOR_ORIENTATION) {
                Cell cell = cell(contestant, threads);
                cells.add(cell);
                figures.addAll(
                        List.of(pairs(cell), spread(cell), Figure.of(cell.id(), "p99.9 wait", Unit.NANOS, "p99.9")));
            }
        }
        return Workload.local(
                "hot-lock",
                "One hot lock in one process",
                "Threads acquire and release one lock without a break; what it protects is a counter. Every pair has a"
                        + " hold and a fencing token of its own. *Spread* is what the fastest thread did, divided by"
                        + " what the slowest did. The JDK's `ReentrantLock`, which holds in one process only and has no"
                        + " tokens, is there for orientation.",
                cells,
                figures);
    }

    private static Cell cell(Contestant contestant, int threads) {
        return new Cell(contestant.title() + "-" + threads, (bench, measurements) -> {
            Guarded guarded = Guarded.inMemory();
            try (Contestant.Client client = contestant.connect(bench.place())) {
                Workers.Tally tally = Workers.of(
                                bench, threads, unused -> new Workers.Post(client.mutex("hot"), guarded))
                        .run();
                tally.show(measurements);
                guarded.check(tally.passes(), measurements);
            }
        });
    }

    private static Figure pairs(Cell cell) {
        return Figure.of(cell.id(), "pairs", Unit.PER_SECOND, "pairs/s");
    }

    private static Figure spread(Cell cell) {
        String id = cell.id();
        return Figure.ratio(id, "spread", new Figure.Term(id, "fastest"), new Figure.Term(id, "slowest"));
    }
}
