package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Locks that nobody else wants, on a server: what one thread gets, and what many get that have one each. */
final class OwnLocks implements Workload {

    private static final int ONE = 1;

    /** So many threads, and what is to be reached there. */
    private record Level(int threads, double timesRaw, double timesFirst, double timesBest) {}

    private final Field field;
    private final List<Level> levels;

    private OwnLocks(Field field, List<Level> levels) {
        this.field = field;
        this.levels = levels;
    }

    static OwnLocks onRedis() {
        return new OwnLocks(
                Field.REDIS,
                List.of(new Level(ONE, 0.8, 3.5, 1.5), new Level(64, 0.8, 10, 1.8), new Level(500, 0.8, 10, 1.8)));
    }

    @Override
    public String id() {
        return field.name() + "-own";
    }

    @Override
    public String title() {
        return field.title() + ", without contention";
    }

    @Override
    public String method() {
        return "Threads of one process acquire and release a lock each, without a break, for at least %d s before the window opens, so that what they run is compiled. %s %s"
                .formatted(Stage.LEAST_WARM_UP.toSeconds(), field.settings(), Stage.COLUMNS_TEXT);
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (Level level : levels) {
            for (Contestant contestant : contestants(level)) {
                cells.add(new Cell(
                        Stage.id(contestant, level.threads()),
                        contestant.isPeer(),
                        (bench, sheet) -> Stage.play(
                                field,
                                contestant,
                                bench.scaledOverOne(level.threads()),
                                bench.scaledOverOne(level.threads()),
                                bench,
                                sheet)));
            }
        }
        return cells;
    }

    /** Without contention the fair locks do what the others do and more, so one look at them is enough. */
    private List<Contestant> contestants(Level level) {
        List<Contestant> contestants = new ArrayList<>(field.all());
        if (level.threads() == ONE) {
            contestants.addAll(field.fairPeers());
        }
        return contestants;
    }

    @Override
    public List<Column> columns() {
        return Stage.COLUMNS;
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (Level level : levels) {
            String ours = Stage.id(field.ours(), level.threads());
            Contestant first = field.peers().get(0);
            figures.add(Stage.times(ours, "raw", Stage.ids(List.of(field.raw()), level.threads()))
                    .atLeast(level.timesRaw()));
            figures.add(Stage.times(ours, first.title(), Stage.ids(List.of(first), level.threads()))
                    .atLeast(level.timesFirst()));
            figures.add(Stage.times(ours, "the best peer", Stage.ids(field.peers(), level.threads()))
                    .atLeast(level.timesBest()));
        }
        return figures;
    }
}
