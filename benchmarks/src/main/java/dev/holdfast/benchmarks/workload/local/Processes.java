package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Launcher;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Several processes with several threads each that fight for one lock. */
public final class Processes implements Workload {

    private static final List<Contestant> CONTESTANTS = List.of(Holdfasts.SQLITE_FULL, Holdfasts.SQLITE_NORMAL);
    private static final int PROCESSES = 4;
    private static final int THREADS = 4;
    private static final Duration WARM_UP = Duration.ofSeconds(4);
    private static final String PASSES = "passes";

    private final Launcher launcher;

    public Processes(Launcher launcher) {
        this.launcher = launcher;
    }

    @Override
    public String id() {
        return "processes";
    }

    @Override
    public String title() {
        return "One hot lock in several processes";
    }

    @Override
    public String method() {
        return String.format(
                "%d processes with %d threads each acquire and release one lock without a break. *Spread* is"
                        + " what the fastest process did, divided by what the slowest did; the waits are those of the"
                        + " process in which they are longest.",
                PROCESSES, THREADS);
    }

    @Override
    public List<Cell> cells() {
        return CONTESTANTS.stream()
                .map(contestant -> new Cell(contestant.title(), (bench, sheet) -> fight(contestant, bench, sheet)))
                .toList();
    }

    @Override
    public List<Cell> parts() {
        return CONTESTANTS.stream()
                .map(contestant -> new Cell(part(contestant), (bench, sheet) -> {
                    Guarded guarded = Guarded.inFile(bench.place());
                    try (Contestant.Client client = contestant.connect(bench.place())) {
                        Crew.Tally tally = Crew.run(
                                Gathering.join(bench), THREADS, unused -> new Crew.Post(client.mutex("hot"), guarded));
                        tally.show(sheet);
                        sheet.put(PASSES, tally.passes());
                    }
                }))
                .toList();
    }

    private static String part(Contestant contestant) {
        return contestant.title() + "-process";
    }

    private void fight(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inFile(bench.place());
        List<Sheet> sheets;
        try (Gathering processes = Gathering.of(
                bench.scaledOverOne(PROCESSES), bench, () -> launcher.start(this, cell(part(contestant)), bench))) {
            var unused = processes.open(WARM_UP);
            sheets = processes.sheets();
        }
        sheet.put("pairs/s", Sheet.all(sheets, "pairs/s").sum());
        sheet.put("fastest", Sheet.all(sheets, "pairs/s").max().orElse(0));
        sheet.put("slowest", Sheet.all(sheets, "pairs/s").min().orElse(0));
        sheet.put("p50", Sheet.all(sheets, "p50").max().orElse(0));
        sheet.put("p99", Sheet.all(sheets, "p99").max().orElse(0));
        sheet.put("max", Sheet.all(sheets, "max").max().orElse(0));
        guarded.check(Math.round(Sheet.all(sheets, PASSES).sum()), sheet);
    }

    @Override
    public List<Figure> figures() {
        return CONTESTANTS.stream()
                .map(Contestant::title)
                .flatMap(cell -> Stream.of(
                        Figure.of(cell, "pairs", Unit.PER_SECOND, "pairs/s"),
                        Figure.ratio(
                                cell, "spread", new Figure.Term(cell, "fastest"), new Figure.Term(cell, "slowest")),
                        Figure.of(cell, "median wait", Unit.NANOS, "p50"),
                        Figure.of(cell, "p99 wait", Unit.NANOS, "p99"),
                        Figure.of(cell, "longest wait timed", Unit.NANOS, "max")))
                .toList();
    }
}
