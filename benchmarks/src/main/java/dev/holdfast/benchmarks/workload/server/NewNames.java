package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.EachOnce;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Locks on names that are used once, as one for each order: whatever a server keeps for a lock has to be made each
 * time.
 */
public final class NewNames implements Workload {

    private static final int ONE = 1;
    private static final int MANY = 64;
    private static final int MILLION = 1_000_000;

    /** At a thousand names a second. */
    private static final Duration MILLION_USED_UP = Duration.ofSeconds(1_000);

    /** What is to be reached: so many times what others reach, with as many threads. */
    private record Goals(double timesRaw, double timesBestPeer) {}

    /** What a pair of one thread may cost; made from the cell. */
    private interface Costs {
        List<Figure> of(String cell);
    }

    private final Field field;
    private final Goals goals;
    private final Costs costs;

    private NewNames(Field field, Goals goals, Costs costs) {
        this.field = field;
        this.goals = goals;
        this.costs = costs;
    }

    public static NewNames onRedis() {
        return new NewNames(Field.REDIS, new Goals(0.8, 1.5), cell -> List.of());
    }

    public static NewNames onSql(Field field) {
        // A keep-alive may fall into the window, and belongs to no pair.
        return new NewNames(
                field,
                new Goals(0.7, 1.5),
                cell -> List.of(
                        Figure.of(cell, "statements of a pair", Unit.COUNT, "commands")
                                .atMost(3.05),
                        Figure.of(cell, "commits of a pair", Unit.COUNT, "commits")
                                .atMost(2.05)));
    }

    /** On a server where each write is one of a quorum. */
    public static NewNames onRegister(Field field, double timesBest) {
        return new NewNames(
                field,
                new Goals(0.85, timesBest),
                cell -> List.of(Figure.of(cell, "writes of a pair", Unit.COUNT, "commits")
                        .atMost(2.05)));
    }

    @Override
    public String id() {
        return field.name() + "-new";
    }

    @Override
    public String title() {
        return field.title() + ", names that are used once";
    }

    @Override
    public String method() {
        return String.format(
                "Threads of one process acquire and release a lock under another name each time, without a"
                        + " break, for at least %d s before the window opens. In `%s` one thread does so after %d"
                        + " threads have used %,d names once each: they are still stored then, and *a million* is how"
                        + " quick that was. %s %s",
                Stage.LEAST_WARM_UP.toSeconds(),
                afterMillion(),
                MANY,
                MILLION,
                field.texts().settings(),
                Stage.columnsText(field));
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (int threads : List.of(ONE, MANY)) {
            for (Contestant contestant : contestants()) {
                cells.add(new Cell(
                        Stage.id(contestant, threads),
                        contestant.isPeer(),
                        (bench, sheet) -> play(contestant, bench.scaledOverOne(threads), 0, bench, sheet)));
            }
        }
        cells.add(new Cell(
                afterMillion(),
                false,
                MILLION_USED_UP,
                (bench, sheet) -> play(field.ours(), ONE, bench.scaled(MILLION), bench, sheet)));
        return cells;
    }

    private List<Contestant> contestants() {
        List<Contestant> contestants = new ArrayList<>(List.of(field.raw(), field.ours()));
        contestants.addAll(field.peers());
        return contestants;
    }

    private String afterMillion() {
        return field.ours().title() + "-after-a-million";
    }

    /** @param before how many names are used before that */
    private void play(Contestant contestant, int threads, int before, Bench bench, Sheet sheet) throws Exception {
        try (Usage usage = new Usage(field.server(), bench);
                Contestant.Client client = contestant.connect(bench.place())) {
            AtomicLong names = new AtomicLong();
            if (before > 0) {
                sheet.put("million", useUp(client, names, before));
            }
            List<Guarded> guarded = new ArrayList<>();
            List<Crew.Post> posts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                guarded.add(Guarded.inMemory());
                posts.add(new Crew.Post(new EachOnce(client, names), guarded.get(i)));
            }
            Crew.Tally tally =
                    Stage.work(contestant, bench.notWithin(Stage.LEAST_WARM_UP), threads, usage, posts::get, sheet);
            usage.show(tally.all(), sheet);
            Guarded.check(guarded, tally.passes(), sheet);
        }
    }

    /** Uses names once each; tells how many in a second. */
    private static double useUp(Contestant.Client client, AtomicLong names, int count) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(MANY);
        long begin = System.nanoTime();
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                EachOnce lock = new EachOnce(client, names);
                ends.add(threads.submit(() -> {
                    while (names.get() < count) {
                        var unused = lock.acquire();
                        lock.release();
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                var unused = end.get(1, TimeUnit.HOURS);
            }
        } finally {
            threads.shutdownNow();
        }
        return names.get() * 1e9 / (System.nanoTime() - begin);
    }

    @Override
    public List<Column> columns() {
        return Stage.columns(field);
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        for (int threads : List.of(ONE, MANY)) {
            String ours = Stage.id(field.ours(), threads);
            figures.add(Stage.times(ours, "raw", Stage.ids(List.of(field.raw()), threads))
                    .atLeast(goals.timesRaw()));
            figures.add(Stage.times(ours, "the best peer", Stage.ids(field.peers(), threads))
                    .atLeast(goals.timesBestPeer()));
        }
        figures.add(Stage.times(afterMillion(), "raw, without these names", Stage.ids(List.of(field.raw()), ONE))
                .atLeast(goals.timesRaw()));
        figures.add(Figure.of(afterMillion(), "names a second, for a million", Unit.PER_SECOND, "million"));
        figures.addAll(costs.of(Stage.id(field.ours(), ONE)));
        return figures;
    }
}
