package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.Jdk;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/** Threads of one process that fight for one lock. */
public final class HotLock implements Workload {

    private static final List<Contestant> OURS = List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL);
    private static final List<Contestant> FOR_ORIENTATION = List.of(Jdk.FAIR, Jdk.UNFAIR);
    private static final int FEW = 2;
    private static final int MANY = 500;
    private static final int[] THREADS = {FEW, 64, MANY};

    @Override
    public String id() {
        return "hot-lock";
    }

    @Override
    public String title() {
        return "One hot lock in one process";
    }

    @Override
    public String method() {
        return "Threads acquire and release one lock without a break; what it protects is a counter. Every pair has a "
                + "hold and a fencing token of its own. *Spread* is what the fastest thread did, divided by what the "
                + "slowest did. The JDK's `ReentrantLock`, which holds in one process only and has no tokens, is there "
                + "for orientation.";
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (int threads : THREADS) {
            OURS.forEach(contestant -> cells.add(cell(contestant, threads)));
            orientation(threads).forEach(contestant -> cells.add(cell(contestant, threads)));
        }
        return cells;
    }

    /** Two threads hardly meet at the JDK's locks, so there would be nothing to compare. */
    private static List<Contestant> orientation(int threads) {
        return threads == FEW ? List.of() : FOR_ORIENTATION;
    }

    private static Cell cell(Contestant contestant, int threads) {
        return new Cell(id(contestant, threads), (bench, sheet) -> {
            Guarded guarded = Guarded.inMemory();
            try (Contestant.Client client = contestant.connect(bench.place())) {
                Crew.Tally tally = Crew.run(bench, threads, unused -> new Crew.Post(client.mutex("hot"), guarded));
                tally.show(sheet);
                guarded.check(tally.passes(), sheet);
            }
        });
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (int threads : THREADS) {
            for (Contestant contestant : OURS) {
                figures.addAll(figures(contestant, threads));
            }
            for (Contestant contestant : orientation(threads)) {
                String id = id(contestant, threads);
                figures.add(Figure.of(id, "pairs", Unit.PER_SECOND, "pairs/s"));
                figures.add(spread(id));
                figures.add(Figure.of(id, "p99.9 wait", Unit.NANOS, "p99.9"));
            }
        }
        return figures;
    }

    private static List<Figure> figures(Contestant contestant, int threads) {
        String id = id(contestant, threads);
        Figure wait = Figure.of(id, "p99.9 wait", Unit.NANOS, "p99.9");
        return List.of(
                Figure.of(id, "pairs", Unit.PER_SECOND, "pairs/s").atLeast(500_000),
                spread(id).atMost(3),
                threads == MANY ? wait.atMost(0.5e9) : wait,
                Figure.of(id, "longest wait timed", Unit.NANOS, "max"));
    }

    private static Figure spread(String id) {
        return Figure.ratio(id, "spread", new Figure.Term(id, "fastest"), new Figure.Term(id, "slowest"));
    }

    private static String id(Contestant contestant, int threads) {
        return contestant.title() + "-" + threads;
    }
}
