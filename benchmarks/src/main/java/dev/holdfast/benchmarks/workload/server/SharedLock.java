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
import java.util.OptionalDouble;

/** One hot lock on a server, in one process. */
public final class SharedLock implements Workload {

    private static final String NAME = "-hot";
    private static final int FEW = 2;
    private static final int[] THREADS = {FEW, 64, 500};
    private static final double PAIRS = 500_000;

    private final Field field;

    /** How many times what the best peer does is to be reached, if there is a goal. */
    private final OptionalDouble timesBest;

    private SharedLock(Field field, OptionalDouble timesBest) {
        this.field = field;
        this.timesBest = timesBest;
    }

    public static SharedLock onRedis() {
        return new SharedLock(Field.REDIS, OptionalDouble.of(100));
    }

    public static SharedLock on(Field field) {
        return new SharedLock(field, OptionalDouble.empty());
    }

    @Override
    public String id() {
        return field.name() + NAME;
    }

    @Override
    public String title() {
        return field.title() + ", one hot lock in one process";
    }

    @Override
    public String method() {
        return String.format(
                "As `%s-own`, but all threads want one lock. A peer, or a lock by hand, whose threads do not"
                        + " come to an end is left to itself after a while; that is told below.",
                field.name());
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (int threads : THREADS) {
            for (Contestant contestant : contestants(threads)) {
                cells.add(new Cell(
                        Stage.id(contestant, threads),
                        contestant.isPeer(),
                        (bench, sheet) ->
                                Stage.play(field, contestant, bench.scaledOverOne(threads), 1, bench, sheet)));
            }
        }
        return cells;
    }

    /** Two take turns in any case. */
    private List<Contestant> contestants(int threads) {
        List<Contestant> contestants = new ArrayList<>(field.all());
        if (threads > FEW) {
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
        for (int threads : THREADS) {
            String ours = Stage.id(field.ours(), threads);
            Figure pairs = Figure.of(ours, "pairs", Unit.PER_SECOND, "pairs/s");
            Figure times = Stage.times(ours, "the best peer", Stage.ids(field.peers(), threads));
            figures.add(threads > FEW ? pairs.atLeast(PAIRS) : pairs);
            figures.add(threads > FEW && timesBest.isPresent() ? times.atLeast(timesBest.getAsDouble()) : times);
        }
        return figures;
    }
}
