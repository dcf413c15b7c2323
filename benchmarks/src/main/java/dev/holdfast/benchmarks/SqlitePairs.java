package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** Locks that nobody else wants, on SQLite: what the rest costs beyond the database. */
final class SqlitePairs implements Workload {

    private static final int MANY = 64;
    private static final Duration SLICE = Duration.ofMillis(200);

    private static final String BY_HAND = "by hand";
    private static final String ONE = "one";
    private static final String ALL = "all";
    private static final String ONE_BY_HAND = "one/by hand";
    private static final String ALL_BY_HAND = "all/by hand";

    /** One way to flush, and what is to be reached there. */
    private record Mode(Holdfasts store, ByHand byHand, double goalForOne, double goalForMany) {}

    private static final List<Mode> MODES = List.of(
            new Mode(Holdfasts.SQLITE_FULL, ByHand.FULL, 0.8, 8),
            new Mode(Holdfasts.SQLITE_NORMAL, ByHand.NORMAL, 0.6, 1.5));

    @Override
    public String id() {
        return "sqlite-pairs";
    }

    @Override
    public String title() {
        return "SQLite, without contention";
    }

    @Override
    public String method() {
        return "One thread acquires and releases one lock, and %d threads one lock each. *By hand* is one thread that does nothing but two statements, each a commit of its own, on a connection of its own, with the same `synchronous`, in a file in the same directory. Disks have moods, so the three take turns of %d ms within one JVM; *× by hand* is the median of what such turns compare to the one by hand before them."
                .formatted(MANY, SLICE.toMillis());
    }

    @Override
    public List<Cell> cells() {
        return MODES.stream()
                .map(mode -> new Cell(mode.store().title(), (bench, sheet) -> compare(mode, bench, sheet)))
                .toList();
    }

    private static void compare(Mode mode, Bench bench, Sheet sheet) throws Exception {
        List<Guarded> guarded =
                Stream.generate(Guarded::inMemory).limit(1 + MANY).toList();
        Samples samples = new Samples();
        long passes = 0;
        try (Contestant.Client hand = mode.byHand().connect(bench.place());
                Contestant.Client store = mode.store().connect(bench.place())) {
            Contestant.Mutex handMutex = hand.mutex("own");
            long turns = Math.max(1, bench.time().dividedBy(SLICE));
            for (long turn = 0; turn < turns; ) {
                boolean isWarm = System.nanoTime() - bench.begin() >= 0;
                Bench slice = bench.now(SLICE);
                Crew.Tally byHand = Crew.run(slice, 1, i -> new Crew.Post(handMutex, guarded.get(MANY)));
                Crew.Tally one =
                        Crew.run(slice.now(SLICE), 1, i -> new Crew.Post(store.mutex("own-0"), guarded.get(0)));
                Crew.Tally all =
                        Crew.run(slice.now(SLICE), MANY, i -> new Crew.Post(store.mutex("own-" + i), guarded.get(i)));
                passes += byHand.passes() + one.passes() + all.passes();
                if (isWarm) {
                    samples.add(byHand.rate(), one.rate(), all.rate());
                    turn++;
                }
            }
        }
        samples.show(sheet);
        Guarded.check(guarded, passes, sheet);
    }

    /** What the turns gave. */
    private static final class Samples {

        private final List<Double> byHand = new ArrayList<>();
        private final List<Double> one = new ArrayList<>();
        private final List<Double> all = new ArrayList<>();
        private final List<Double> oneByHand = new ArrayList<>();
        private final List<Double> allByHand = new ArrayList<>();

        void add(double byHandRate, double oneRate, double allRate) {
            byHand.add(byHandRate);
            one.add(oneRate);
            all.add(allRate);
            oneByHand.add(oneRate / byHandRate);
            allByHand.add(allRate / byHandRate);
        }

        void show(Sheet sheet) {
            sheet.put(BY_HAND, median(byHand));
            sheet.put(ONE, median(one));
            sheet.put(ALL, median(all));
            sheet.put(ONE_BY_HAND, median(oneByHand));
            sheet.put(ALL_BY_HAND, median(allByHand));
        }

        private static double median(List<Double> values) {
            Collections.sort(values);
            return values.get(values.size() / 2);
        }
    }

    @Override
    public List<Figure> figures() {
        return MODES.stream()
                .flatMap(mode -> {
                    String cell = mode.store().title();
                    return Stream.of(
                            Figure.of(cell, "pairs, by hand", Unit.PER_SECOND, BY_HAND),
                            Figure.of(cell, "pairs, 1 thread", Unit.PER_SECOND, ONE),
                            Figure.of(cell, "1 thread, × by hand", Unit.TIMES, ONE_BY_HAND)
                                    .atLeast(mode.goalForOne()),
                            Figure.of(cell, "pairs, " + MANY + " threads", Unit.PER_SECOND, ALL),
                            Figure.of(cell, MANY + " threads, × by hand", Unit.TIMES, ALL_BY_HAND)
                                    .atLeast(mode.goalForMany()));
                })
                .toList();
    }
}
