package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Locks that nobody else wants, on a server: what one thread gets, and what many get that have one each. */
public final class OwnLocks implements Workload {

    private static final int ONE = 1;

    /** What is to be reached: so many times what others reach, the best of them if there are several. */
    private record Goal(String what, List<Contestant> others, double times) {}

    /** So many threads, and what is to be reached there. */
    private record Level(int threads, List<Goal> goals) {}

    private final Field field;
    private final List<Level> levels;

    /** What a pair of one thread may cost, where there is a bound. */
    private final List<Figure> costs;

    private OwnLocks(Field field, List<Level> levels, List<Figure> costs) {
        this.field = field;
        this.levels = levels;
        this.costs = costs;
    }

    public static OwnLocks onRedis() {
        Field field = Field.REDIS;
        List<Contestant> first = List.of(field.peers().get(0));
        List<Level> levels = new ArrayList<>();
        for (int threads : List.of(ONE, 64, 500)) {
            levels.add(new Level(
                    threads,
                    List.of(
                            raw(field, 0.8),
                            new Goal(first.get(0).title(), first, threads == ONE ? 3.5 : 10),
                            best(field, threads == ONE ? 1.5 : 1.8))));
        }
        return new OwnLocks(field, levels, List.of());
    }

    public static OwnLocks onSql(Field field) {
        List<Level> levels = new ArrayList<>();
        levels.add(new Level(ONE, List.of(raw(field, 0.85), best(field, 1.5))));
        for (int threads : List.of(64, 500)) {
            List<Goal> goals = new ArrayList<>(List.of(raw(field, 1.5)));
            field.peers().forEach(peer -> goals.add(new Goal(peer.title(), List.of(peer), 8)));
            levels.add(new Level(threads, goals));
        }
        // A keep-alive may fall into the window, and belongs to no pair.
        return new OwnLocks(
                field,
                levels,
                List.of(Figure.of(Stage.id(field.ours(), ONE), "statements of a pair", Unit.COUNT, "commands")
                        .atMost(2.05)));
    }

    /** On a server where each write is one of a quorum. */
    public static OwnLocks onRegister(Field field, double timesBest) {
        List<Level> levels = new ArrayList<>();
        levels.add(new Level(ONE, List.of(raw(field, 0.85), best(field, timesBest))));
        for (int threads : List.of(64, 500)) {
            levels.add(new Level(threads, List.of(raw(field, 0.8), best(field, 1))));
        }
        return new OwnLocks(
                field,
                levels,
                List.of(Figure.of(Stage.id(field.ours(), ONE), "writes of a pair", Unit.COUNT, "commits")
                        .atMost(2.05)));
    }

    private static Goal raw(Field field, double times) {
        return new Goal("raw", List.of(field.raw()), times);
    }

    private static Goal best(Field field, double times) {
        return new Goal("the best peer", field.peers(), times);
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
        return String.format(
                "Threads of one process acquire and release a lock each, without a break, for at least %d s"
                        + " before the window opens, so that what they run is compiled. %s %s",
                Stage.LEAST_WARM_UP.toSeconds(), field.texts().settings(), Stage.columnsText(field));
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
        return Stage.columns(field);
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (Level level : levels) {
            String ours = Stage.id(field.ours(), level.threads());
            for (Goal goal : level.goals()) {
                figures.add(Stage.times(ours, goal.what(), Stage.ids(goal.others(), level.threads()))
                        .atLeast(goal.times()));
            }
        }
        figures.addAll(costs);
        return figures;
    }
}
