package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.BareStore;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.ByHand;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.EachOnce;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Locks that nobody else wants, on SQLite: what the rest costs beyond the database. */
public final class SqlitePairs implements Workload {

    private static final int MANY = 64;
    private static final Duration TURN = Duration.ofMillis(100);

    /** How much longer than a cell with one thing to measure. */
    private static final int TIMES = 2;

    /** For the threads to start. */
    private static final Duration LEAD_IN = Duration.ofMillis(10);

    private static final String BY_HAND = "by hand";
    private static final String BARE = "the store alone, 1 thread";
    private static final String ONE = "1 thread";
    private static final String ALL = MANY + " threads";
    private static final String NEW = "1 thread, names that are used once";
    private static final String TIMES_BY_HAND = ", × by hand";

    /** One way to flush, and what is to be reached there. */
    private record Mode(Holdfasts store, ByHand byHand, double goalForOne, double goalForAll) {}

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
        return String.format(
                "One thread acquires and releases one lock, and %d threads one lock each; *names that are"
                        + " used once* is one thread with another name each time; *the store alone* is one thread that"
                        + " gives the commands to the store without a client. *By hand* is one thread that does nothing"
                        + " but two statements, each a commit of its own, on a connection of its own, with the same"
                        + " `synchronous`, in a file in the same directory. Disks have moods, so each of the four takes"
                        + " turns of %d ms with the one by hand within one JVM, and goes first in every other pair of"
                        + " turns; *× by hand* is the median of what such pairs compare.",
                MANY, TURN.toMillis());
    }

    @Override
    public List<Cell> cells() {
        return MODES.stream()
                .map(mode -> new Cell(mode.store().title(), (bench, sheet) -> compare(mode, bench, sheet)))
                .toList();
    }

    private static void compare(Mode mode, Bench bench, Sheet sheet) throws Exception {
        List<Player> players = new ArrayList<>();
        try (Contestant.Client hand = mode.byHand().connect(bench.place());
                Contestant.Client bare = new BareStore(mode.store()).connect(bench.place());
                Contestant.Client client = mode.store().connect(bench.place())) {
            AtomicLong names = new AtomicLong();
            Player byHand = new Player(BY_HAND, i -> hand.mutex("hand-" + i), 1);
            players.add(byHand);
            players.add(new Player(BARE, i -> bare.mutex("bare-" + i), 1));
            players.add(new Player(ONE, i -> client.mutex("one-" + i), 1));
            players.add(new Player(ALL, i -> client.mutex("all-" + i), MANY));
            players.add(new Player(NEW, i -> new EachOnce(client, names), 1));
            // Each counts eight turns: four pairs.
            long turns = Math.max(1, bench.time().multipliedBy(TIMES).dividedBy(TURN.multipliedBy(8)));
            for (long turn = 0; turn < turns; ) {
                boolean counts = System.nanoTime() - bench.begin() >= 0;
                for (Player player : players.subList(1, players.size())) {
                    boolean isFirst = turn % 2 == 1;
                    double before = isFirst ? player.play(bench, counts) : 0;
                    double floor = byHand.play(bench, counts);
                    double rate = isFirst ? before : player.play(bench, counts);
                    if (counts) {
                        player.compare(rate, floor);
                    }
                }
                turn += counts ? 1 : 0;
            }
        }
        players.forEach(player -> player.show(sheet));
    }

    /** One who takes turns. */
    private static final class Player {

        private final String title;
        private final List<Guarded> guarded;
        private final List<Crew.Post> posts;
        private final List<Double> rates = new ArrayList<>();
        private final List<Double> timesByHand = new ArrayList<>();
        private long passes;

        Player(String title, IntFunction<Contestant.Mutex> mutexes, int threads) {
            this.title = title;
            this.guarded = Stream.generate(Guarded::inMemory).limit(threads).toList();
            this.posts = IntStream.range(0, threads)
                    .mapToObj(i -> new Crew.Post(mutexes.apply(i), guarded.get(i)))
                    .toList();
        }

        double play(Bench bench, boolean counts) throws Exception {
            Crew.Tally tally = Crew.run(bench.after(LEAD_IN, TURN), posts.size(), posts::get);
            passes += tally.passes();
            if (counts) {
                rates.add(tally.rate());
            }
            return tally.rate();
        }

        void compare(double rate, double byHand) {
            timesByHand.add(rate / byHand);
        }

        void show(Sheet sheet) {
            sheet.put(title, median(rates));
            if (!timesByHand.isEmpty()) {
                sheet.put(title + TIMES_BY_HAND, median(timesByHand));
            }
            Guarded.check(guarded, passes, sheet);
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
                            pairs(cell, BY_HAND),
                            timesByHand(cell, BARE),
                            pairs(cell, ONE),
                            timesByHand(cell, ONE).atLeast(mode.goalForOne()),
                            pairs(cell, ALL),
                            timesByHand(cell, ALL).atLeast(mode.goalForAll()),
                            pairs(cell, NEW),
                            timesByHand(cell, NEW));
                })
                .toList();
    }

    private static Figure pairs(String cell, String who) {
        return Figure.of(cell, "pairs, " + who, Unit.PER_SECOND, who);
    }

    private static Figure timesByHand(String cell, String who) {
        return Figure.of(cell, who + TIMES_BY_HAND, Unit.TIMES, who + TIMES_BY_HAND);
    }
}
