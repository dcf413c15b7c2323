package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** What a hand-over costs, by the number of those who wait. */
public final class Waiters implements Workload {

    private static final int[] COUNTS = {10, 100, 1_000, 10_000};
    private static final int FEW = COUNTS[0];
    private static final int CLIENTS = 8;
    private static final Holdfasts STORE = Holdfasts.SQLITE_NORMAL;
    private static final double MOST = 1.5;

    /** From when all wait to the window. */
    private static final Duration LEAD_IN = Duration.ofMillis(300);

    /** Where they wait. */
    private enum Place {
        ONE_CLIENT("one-client", false) {
            @Override
            void run(int count, Bench bench, Outcome outcome) throws Exception {
                stages(1, count, UnaryOperator.identity(), bench, outcome);
            }
        },
        CLIENTS_IN_TURNS("clients", false) {
            @Override
            void run(int count, Bench bench, Outcome outcome) throws Exception {
                stages(CLIENTS, count, UnaryOperator.identity(), bench, outcome);
            }
        },
        CLIENTS_IN_STRICT_ORDER("clients-strict", true) {
            @Override
            void run(int count, Bench bench, Outcome outcome) throws Exception {
                stages(CLIENTS, count, builder -> builder.cohortBudget(Duration.ZERO), bench, outcome);
            }
        },
        STORE_ALONE("store-alone", true) {
            @Override
            void run(int count, Bench bench, Outcome outcome) throws Exception {
                claims(count, bench, outcome);
            }
        };

        private final String title;

        /** Each hand-over is one from the store. */
        private final boolean isThroughTheStore;

        Place(String title, boolean isThroughTheStore) {
            this.title = title;
            this.isThroughTheStore = isThroughTheStore;
        }

        abstract void run(int count, Bench bench, Outcome outcome) throws Exception;
    }

    /** What came of some hand-overs; goes to a sheet, for a number of waiters. */
    private record Outcome(int count, Sheet sheet) {

        void put(long nanos, long commands, long handOvers) {
            sheet.put(time(count), (double) nanos / handOvers);
            sheet.put(commands(count), (double) commands / handOvers * 1_000);
        }

        static String time(int count) {
            return "nanos-" + count;
        }

        static String commands(int count) {
            return "commands-" + count;
        }
    }

    @Override
    public String id() {
        return "waiters";
    }

    @Override
    public String title() {
        return "Many who wait for one lock";
    }

    @Override
    public String method() {
        return String.format(
                "So many wait for one lock on SQLite (`synchronous=NORMAL`), and whoever gets it asks again"
                        + " and passes it on. They are stages, so no thread waits: of one client; of %1$d clients with"
                        + " a connection each, which stand in the store's queue with one claim each; of %1$d clients"
                        + " with a cohort budget of zero, so that each hand-over goes through the store to another"
                        + " client. In the cell `%2$s` there is no client: so many claims of %1$d sessions stand in the"
                        + " store's queue, and a hand-over is a release and a new claim at the tail. The numbers take"
                        + " turns within one JVM, each with a file of its own.",
                CLIENTS, Place.STORE_ALONE.title);
    }

    @Override
    public List<Cell> cells() {
        return Stream.of(Place.values())
                .map(place -> new Cell(place.title, (bench, sheet) -> run(place, bench, sheet)))
                .toList();
    }

    private static void run(Place place, Bench bench, Sheet sheet) throws Exception {
        Duration warmUp = Duration.ofNanos(Math.max(0, bench.begin() - System.nanoTime()));
        place.run(bench.scaled(FEW), bench.in("warm-up").now(warmUp), new Outcome(0, new Sheet()));
        Duration window = bench.time().dividedBy(2);
        for (int count : COUNTS) {
            place.run(bench.scaled(count), bench.in("of-" + count).now(window), new Outcome(count, sheet));
        }
    }

    private static void stages(
            int clients, int count, UnaryOperator<Holdfast.Builder> settings, Bench bench, Outcome outcome)
            throws Exception {
        try (Ring ring = new Ring(STORE, bench.place(), clients, settings)) {
            ring.start(count);
            Bench settled = bench.after(LEAD_IN, bench.time());
            settled.awaitBegin();
            long begin = System.nanoTime();
            long handOvers = ring.handOvers();
            long commands = ring.commands();
            do {
                settled.awaitEnd();
            } while (ring.handOvers() == handOvers);
            outcome.put(System.nanoTime() - begin, ring.commands() - commands, ring.handOvers() - handOvers);
            ring.stop(outcome.sheet());
        }
    }

    private static void claims(int count, Bench bench, Outcome outcome) {
        try (Line line = new Line(STORE, bench.place(), CLIENTS)) {
            for (int i = 0; i <= count; i++) {
                line.append();
            }
            Bench settled = bench.after(LEAD_IN, bench.time());
            while (System.nanoTime() - settled.begin() < 0) {
                line.handOver();
            }
            long begin = System.nanoTime();
            long commands = line.commands();
            long handOvers = 0;
            do {
                line.handOver();
                handOvers++;
            } while (System.nanoTime() - settled.end() < 0);
            outcome.put(System.nanoTime() - begin, line.commands() - commands, handOvers);
            line.check(outcome.sheet());
        }
    }

    @Override
    public List<Figure> figures() {
        return Stream.of(Place.values()).flatMap(Waiters::figures).toList();
    }

    private static Stream<Figure> figures(Place place) {
        List<Figure> figures = new ArrayList<>();
        for (int count : COUNTS) {
            String waiting = String.format(Locale.ROOT, "%,d wait: ", count);
            figures.add(Figure.of(place.title, waiting + "a hand-over", Unit.NANOS, Outcome.time(count)));
            figures.add(Figure.of(
                    place.title, waiting + "commands for 1,000 hand-overs", Unit.COUNT, Outcome.commands(count)));
            if (count > FEW) {
                figures.add(
                        asWithFew(place, waiting + "time, × that of " + FEW, Outcome.time(count), Outcome.time(FEW)));
                // In memory they go by the time, and hand-overs cost none.
                if (place.isThroughTheStore) {
                    figures.add(asWithFew(
                            place,
                            waiting + "commands, × those of " + FEW,
                            Outcome.commands(count),
                            Outcome.commands(FEW)));
                }
            }
        }
        return figures.stream();
    }

    private static Figure asWithFew(Place place, String label, String number, String ofFew) {
        return Figure.ratio(
                        place.title, label, new Figure.Term(place.title, number), new Figure.Term(place.title, ofFew))
                .atMost(MOST);
    }
}
