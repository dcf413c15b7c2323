package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** The cost of a hand-over, by the number of waiters. */
final class Waiters {

    private static final int[] COUNTS = {10, 100, 1_000, 10_000};
    private static final int FEW = COUNTS[0];
    private static final int CLIENTS = 8;
    private static final Holdfasts STORE = Holdfasts.SQLITE_NORMAL;
    private static final double MOST = 1.5;
    private static final String STORE_ALONE = "store-alone";

    /** Between the start of the waiters and the window. */
    private static final Duration LEAD_IN = Duration.ofMillis(300);

    private Waiters() {}

    /** Hands the lock over until a number of hand-overs and the end of the window are reached. */
    private interface Body {
        void run(int count, long least, Bench bench, Outcome outcome) throws Exception;
    }

    /** The cost of some hand-overs, reported for a number of waiters. */
    private record Outcome(int count, Measurements measurements) {

        void put(long nanos, long commands, long handOvers) {
            measurements.put(time(count), (double) nanos / handOvers);
            measurements.put(commands(count), (double) commands / handOvers * 1_000);
        }

        static String time(int count) {
            return "nanos-" + count;
        }

        static String commands(int count) {
            return "commands-" + count;
        }
    }

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "waiters",
                "Many who wait for one lock",
                String.format(
                        Locale.ROOT,
                        "Stages wait for one lock on SQLite (`synchronous=NORMAL`); each that gets it acquires once"
                                + " more and passes it on, so no thread waits. They belong to one client; to %1$d"
                                + " clients with a connection each; or to %1$d clients in strict order, so that each"
                                + " hand-over goes through the store to another client. In the cell `%2$s` claims of"
                                + " %1$d sessions stand in the store's queue without a client, and a hand-over is a"
                                + " release and a new claim at the tail. The numbers take turns within one JVM, each"
                                + " with a file of its own, after %3$,d hand-overs.",
                        CLIENTS,
                        STORE_ALONE,
                        Workers.FIRST_PAIRS));
        add("one-client", stages(1, UnaryOperator.identity()), false, workload);
        add("clients", stages(CLIENTS, UnaryOperator.identity()), false, workload);
        add("clients-strict", stages(CLIENTS, builder -> builder.cohortBudget(Duration.ZERO)), true, workload);
        add(STORE_ALONE, Waiters::claims, true, workload);
        return workload;
    }

    /** @param isThroughStore whether each hand-over goes through the store */
    private static void add(String cell, Body body, boolean isThroughStore, Workload workload) {
        workload.cell(cell, (bench, measurements) -> {
            Bench warmUp = bench.in("warm-up").after(Duration.ZERO, Duration.ZERO);
            Outcome ignored = new Outcome(0, new Measurements());
            body.run(bench.scaled(FEW), bench.scaled(Workers.FIRST_PAIRS), warmUp, ignored);
            for (int count : COUNTS) {
                Bench window = bench.in("of-" + count)
                        .after(Duration.ZERO, bench.time().dividedBy(2));
                body.run(bench.scaled(count), 1, window, new Outcome(count, measurements));
            }
        });
        for (int count : COUNTS) {
            String waiting = String.format(Locale.ROOT, "%,d wait: ", count);
            String time = Outcome.time(count);
            String commands = Outcome.commands(count);
            workload.show(
                    Figure.of(cell, waiting + "a hand-over", Unit.NANOS, time),
                    Figure.of(cell, waiting + "commands for 1,000 hand-overs", Unit.COUNT, commands));
            if (count > FEW) {
                workload.show(Figure.ratio(cell, waiting + "time, × that of " + FEW, time, Outcome.time(FEW))
                        .atMost(MOST));
            }
            // In memory the commands depend on the time, and hand-overs cost none.
            if (count > FEW && isThroughStore) {
                workload.show(
                        Figure.ratio(cell, waiting + "commands, × those of " + FEW, commands, Outcome.commands(FEW))
                                .atMost(MOST));
            }
        }
    }

    private static Body stages(int clients, UnaryOperator<Holdfast.Builder> settings) {
        return (count, least, bench, outcome) -> {
            try (AsyncRing ring = new AsyncRing(STORE, bench.place(), clients, settings)) {
                ring.start(count);
                Bench settled = bench.after(LEAD_IN, bench.time());
                settled.awaitBegin();
                long begin = System.nanoTime();
                long handOvers = ring.handOvers();
                long commands = ring.commands();
                do {
                    TimeUnit.MILLISECONDS.sleep(1);
                } while (ring.handOvers() - handOvers < least || System.nanoTime() - settled.end() < 0);
                outcome.put(System.nanoTime() - begin, ring.commands() - commands, ring.handOvers() - handOvers);
                ring.stop(outcome.measurements());
            }
        };
    }

    private static void claims(int count, long least, Bench bench, Outcome outcome) {
        try (ClaimQueue queue = new ClaimQueue(STORE, bench.place(), CLIENTS)) {
            for (int i = 0; i <= count; i++) {
                queue.append();
            }
            Bench settled = bench.after(LEAD_IN, bench.time());
            while (System.nanoTime() - settled.begin() < 0) {
                queue.handOver();
            }
            long begin = System.nanoTime();
            long commands = queue.commands();
            long handOvers = 0;
            do {
                queue.handOver();
                handOvers++;
            } while (handOvers < least || System.nanoTime() - settled.end() < 0);
            outcome.put(System.nanoTime() - begin, queue.commands() - commands, handOvers);
            queue.check(outcome.measurements());
        }
    }
}
