package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.BusyLoop;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Uncontended locks on a machine whose processors are busy with other programs. */
public final class Busy implements Workload {

    private static final int ONE = 1;
    private static final List<Integer> OTHERS = List.of(1, 2, 4);

    private final Field field;

    public Busy(Field field) {
        this.field = field;
    }

    @Override
    public String id() {
        return field.name() + "-busy";
    }

    @Override
    public String title() {
        return field.title() + ", beside programs that never sleep";
    }

    @Override
    public String method() {
        return String.format(
                "One thread acquires and releases a lock of its own, without a break, for at least %d s before the"
                        + " window opens, while so many processes as the name of the row ends with compute without a"
                        + " break. %s %s",
                Stage.LEAST_WARM_UP.toSeconds(), field.texts().settings(), Stage.columnsText(field));
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    @Override
    public List<Cell> cells() {
        List<Contestant> contestants = new ArrayList<>(List.of(field.raw(), field.ours()));
        contestants.addAll(field.peers());
        List<Cell> cells = new ArrayList<>();
        for (int others : OTHERS) {
            for (Contestant contestant : contestants) {
                cells.add(new Cell(
                        Stage.id(contestant, others),
                        contestant.isPeer(),
                        (bench, sheet) -> measure(contestant, bench.scaledOverOne(others), bench, sheet)));
            }
        }
        return cells;
    }

    private void measure(Contestant contestant, int others, Bench bench, Sheet sheet) throws Exception {
        List<Jvm> busy = new ArrayList<>();
        try {
            for (int i = 0; i < others; i++) {
                busy.add(Jvm.start(Jvm.Purpose.TRIAL, BusyLoop.class, List.of()));
            }
            Stage.play(field, contestant, ONE, ONE, bench, sheet);
        } finally {
            busy.forEach(Jvm::close);
        }
    }

    @Override
    public List<Column> columns() {
        return Stage.columns(field);
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (int others : OTHERS) {
            String ours = Stage.id(field.ours(), others);
            figures.add(Stage.times(ours, "raw", Stage.ids(List.of(field.raw()), others))
                    .atLeast(0.9));
            figures.add(Stage.times(ours, "the best peer", Stage.ids(field.peers(), others))
                    .atLeast(1));
        }
        return figures;
    }
}
