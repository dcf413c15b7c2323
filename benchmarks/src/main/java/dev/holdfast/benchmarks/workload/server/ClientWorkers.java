package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Threads of one process that use one client of a server, and how their work is shown. */
final class ClientWorkers {

    static final Workload.Column PAIRS = new Workload.Column("pairs", Unit.PER_SECOND, "pairs/s");

    private ClientWorkers() {}

    static List<Workload.Column> columns(Contestants on) {
        List<Workload.Column> columns = new ArrayList<>(List.of(PAIRS));
        columns.addAll(on.counts());
        columns.addAll(List.of(
                new Workload.Column("server CPU", Unit.NANOS, "server cpu"),
                new Workload.Column("client CPU", Unit.NANOS, "client cpu"),
                new Workload.Column("p50 wait", Unit.NANOS, "p50"),
                new Workload.Column("p99 wait", Unit.NANOS, "p99"),
                new Workload.Column("p99.9 wait", Unit.NANOS, "p99.9"),
                new Workload.Column("longest", Unit.NANOS, "max"),
                new Workload.Column("first pairs", Unit.NANOS, "first"),
                new Workload.Column("CPU", Unit.NANOS, "first cpu")));
        return columns;
    }

    /** What is measured, what warms up, and what the columns are, for the page. */
    static String method(String measured, Contestants on) {
        return String.format(
                Locale.ROOT,
                "%s, without a break; the window opens after %,d pairs. %s %s; *server CPU* and *client CPU* are the"
                        + " processor time of both for a pair; a *wait* is the time that an acquisition takes; *first"
                        + " pairs* is the time from the start of the threads until they had made %,d pairs, with the"
                        + " *CPU* of the client.",
                measured,
                Workers.WARM_UP_PAIRS,
                on.texts().settings(),
                on.texts().counts(),
                Workers.FIRST_PAIRS);
    }

    /** A cell in which threads take some locks in turn. */
    static Cell cell(Contestants on, Contestant contestant, int threads, int locks) {
        return Cell.of(
                contestant,
                id(contestant, threads),
                (bench, measurements) -> measure(
                        on, contestant, bench.scaledOverOne(threads), bench.scaledOverOne(locks), bench, measurements));
    }

    static void measure(
            Contestants on, Contestant contestant, int threads, int locks, Bench bench, Measurements measurements)
            throws Exception {
        try (Contestant.Client client = contestant.connect(bench.place())) {
            measure(on, contestant, threads, locks, i -> client.mutex("name-" + i % locks), bench, measurements);
        }
    }

    /**
     * Measures threads that take some locks in turn.
     *
     * @param mutexes the lock object of each thread
     */
    static void measure(
            Contestants on,
            Contestant contestant,
            int threads,
            int locks,
            IntFunction<Contestant.Mutex> mutexes,
            Bench bench,
            Measurements measurements)
            throws Exception {
        List<Guarded> guarded = Stream.generate(Guarded::inMemory).limit(locks).toList();
        try (Usage usage = new Usage(on.server(), bench)) {
            Workers.Tally tally = Workers.of(
                            contestant, bench, threads, i -> new Workers.Post(mutexes.apply(i), guarded.get(i % locks)))
                    .listener(usage)
                    .run();
            tally.show(measurements);
            usage.show(tally.all(), measurements);
            Guarded.check(guarded, tally.passes(), measurements);
        }
    }

    static String id(Contestant contestant, int threads) {
        return contestant.title() + "-" + threads;
    }

    /** The pairs of one cell, divided by those of the best of others. */
    static Figure times(String subject, String label, List<String> others) {
        return Figure.ratio(
                subject, "pairs, × " + label, new Figure.Term(subject, "pairs/s"), new Figure.Term(others, "pairs/s"));
    }

    /** The pairs of ours with some threads, divided by those of the best of others with as many. */
    static Figure times(Contestants on, int threads, String label, List<Contestant> others) {
        return times(
                id(on.ours(), threads),
                label,
                others.stream().map(other -> id(other, threads)).toList());
    }

    static Figure timesRaw(Contestants on, int threads) {
        return times(on, threads, "raw", List.of(on.raw()));
    }

    static Figure timesBestPeer(Contestants on, int threads) {
        return times(on, threads, "the best peer", on.peers());
    }
}
