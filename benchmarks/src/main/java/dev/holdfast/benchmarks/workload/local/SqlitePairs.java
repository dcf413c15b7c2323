package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.holdfast.StoreSession;
import dev.holdfast.benchmarks.contestant.peer.LocalPeers;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.EachOnce;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Locks without contention on SQLite: the cost beyond that of the database. */
final class SqlitePairs {

    private static final int MANY = 64;
    private static final Duration TURN = Duration.ofMillis(100);

    /** How many times longer this takes than a cell that measures one thing. */
    private static final int TIMES = 2;

    /** For the threads to start. */
    private static final Duration LEAD_IN = Duration.ofMillis(10);

    private static final String BY_HAND = "by hand";
    private static final String BARE = "the store alone, 1 thread";
    private static final String ONE = "1 thread";
    private static final String ALL = MANY + " threads";
    private static final String NEW = "1 thread, names that are used once";
    private static final String TIMES_BY_HAND = ", × by hand";

    private SqlitePairs() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "sqlite-pairs",
                "SQLite, without contention",
                String.format(
                        Locale.ROOT,
                        "One thread acquires and releases one lock, and %d threads one lock each; *names that are used"
                                + " once* is one thread with another name each time; *the store alone* is one thread"
                                + " that gives the commands to the store without a client. *By hand* is one thread that"
                                + " does nothing but two statements, each a commit, on a connection with the same"
                                + " `synchronous`, in a file in the same directory. Each of the four takes turns of"
                                + " %d ms with the one by hand, and goes first in every other pair of turns; *× by"
                                + " hand* is the median of what such pairs compare. Turns count after each of the four"
                                + " has made %,d pairs.",
                        MANY,
                        TURN.toMillis(),
                        Workers.FIRST_PAIRS));
        add(Holdfasts.SQLITE_FULL, LocalPeers.BY_HAND_FULL, 0.8, 8, workload);
        add(Holdfasts.SQLITE_NORMAL, LocalPeers.BY_HAND_NORMAL, 0.6, 1.5, workload);
        return workload;
    }

    private static void add(
            Holdfasts store, Contestant byHand, double goalForOne, double goalForAll, Workload workload) {
        String cell = store.title();
        workload.cell(cell, (bench, measurements) -> compare(store, byHand, bench, measurements));
        workload.show(
                pairs(cell, BY_HAND),
                timesByHand(cell, BARE),
                pairs(cell, ONE),
                timesByHand(cell, ONE).atLeast(goalForOne),
                pairs(cell, ALL),
                timesByHand(cell, ALL).atLeast(goalForAll),
                pairs(cell, NEW),
                timesByHand(cell, NEW));
    }

    private static Figure pairs(String cell, String player) {
        return Figure.of(cell, "pairs, " + player, Unit.PER_SECOND, player);
    }

    private static Figure timesByHand(String cell, String player) {
        return Figure.of(cell, player + TIMES_BY_HAND, Unit.TIMES, player + TIMES_BY_HAND);
    }

    private static void compare(Holdfasts store, Contestant handMade, Bench bench, Measurements measurements)
            throws Exception {
        try (Contestant.Client hand = handMade.connect(bench.place());
                Contestant.Client bare = StoreSession.open(store.open(bench.place()));
                Contestant.Client client = store.connect(bench.place())) {
            AtomicLong names = new AtomicLong();
            Player byHand = new Player(BY_HAND, i -> hand.mutex("hand-" + i), 1);
            List<Player> players = List.of(
                    new Player(BARE, i -> bare.mutex("bare-" + i), 1),
                    new Player(ONE, i -> client.mutex("one-" + i), 1),
                    new Player(ALL, i -> client.mutex("all-" + i), MANY),
                    new Player(NEW, i -> new EachOnce(client, names), 1));
            long latest =
                    System.nanoTime() + bench.scaled(Workers.LONGEST_WARM_UP).toNanos();
            do {
                play(players, byHand, 0, bench, false);
            } while (System.nanoTime() - latest < 0
                    && players.stream().anyMatch(player -> player.passes < bench.scaled(Workers.FIRST_PAIRS)));
            // Each round has eight turns: four pairs.
            long rounds = Math.max(1, bench.time().multipliedBy(TIMES).dividedBy(TURN.multipliedBy(8)));
            for (long round = 0; round < rounds; round++) {
                play(players, byHand, round, bench, true);
            }
            byHand.show(measurements);
            players.forEach(player -> player.show(measurements));
        }
    }

    private static void play(List<Player> players, Player byHand, long round, Bench bench, boolean counts)
            throws Exception {
        for (Player player : players) {
            boolean isFirst = round % 2 == 1;
            double before = isFirst ? player.play(bench, counts) : 0;
            double floor = byHand.play(bench, counts);
            double rate = isFirst ? before : player.play(bench, counts);
            if (counts) {
                player.timesByHand.add(rate / floor);
            }
        }
    }

    /** Threads that take turns with those of other players. */
    private static final class Player {

        private final String title;
        private final List<Guarded> guarded;
        private final List<Contestant.Mutex> mutexes = new ArrayList<>();
        private final List<Double> rates = new ArrayList<>();
        private final List<Double> timesByHand = new ArrayList<>();
        private long passes;

        Player(String title, IntFunction<Contestant.Mutex> mutexes, int threads) {
            this.title = title;
            this.guarded = Stream.generate(Guarded::inMemory).limit(threads).toList();
            for (int i = 0; i < threads; i++) {
                this.mutexes.add(mutexes.apply(i));
            }
        }

        double play(Bench bench, boolean counts) throws Exception {
            Workers.Tally tally = Workers.of(
                            bench.after(LEAD_IN, TURN),
                            mutexes.size(),
                            i -> new Workers.Post(mutexes.get(i), guarded.get(i)))
                    .runFromBegin();
            passes += tally.passes();
            if (counts) {
                rates.add(tally.rate());
            }
            return tally.rate();
        }

        void show(Measurements measurements) {
            measurements.put(title, median(rates));
            if (!timesByHand.isEmpty()) {
                measurements.put(title + TIMES_BY_HAND, median(timesByHand));
            }
            Guarded.check(guarded, passes, measurements);
        }

        private static double median(List<Double> values) {
            Collections.sort(values);
            return values.get(values.size() / 2);
        }
    }
}
