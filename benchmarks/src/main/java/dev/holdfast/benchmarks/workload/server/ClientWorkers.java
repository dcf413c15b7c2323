package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Threads of one process that use one client of a server, and how their work is shown. */
final class ClientWorkers {

    private ClientWorkers() {}

    /** A workload with the usual columns, without cells. */
    static Workload workload(Contestants on, String suffix, String title, String measured) {
        Workload workload = on.workload(
                suffix,
                title,
                String.format(
                        Locale.ROOT,
                        "%s, without a break; the window opens after %,d pairs. %s. *Server CPU* and *client CPU* are"
                                + " processor time for a pair, *first pairs* the time of the first %,d pairs, with the"
                                + " client's *CPU*.",
                        measured,
                        Workers.WARM_UP_PAIRS,
                        on.counted(),
                        Workers.FIRST_PAIRS));
        workload.column("pairs", Unit.PER_SECOND, "pairs/s");
        workload.columns().addAll(on.counts());
        workload.column("server CPU", Unit.NANOS, "server cpu");
        workload.column("client CPU", Unit.NANOS, "client cpu");
        workload.column("p50 wait", Unit.NANOS, "p50");
        workload.column("p99 wait", Unit.NANOS, "p99");
        workload.column("p99.9 wait", Unit.NANOS, "p99.9");
        workload.column("longest", Unit.NANOS, "max");
        workload.column("first pairs", Unit.NANOS, "first");
        workload.column("CPU", Unit.NANOS, "first cpu");
        return workload;
    }

    /** The pairs of each contestant, by the number of threads. */
    static Plot plot(Workload workload, List<Contestant> contestants, List<Integer> threads) {
        Plot plot = new Plot(workload.id(), workload.title(), "threads", true, "pairs a second", Unit.PER_SECOND);
        contestants.forEach(contestant -> plot.lines()
                .add(Plot.Line.of(
                        contestant.title(), threads, count -> new Figure.Term(id(contestant, count), "pairs/s"))));
        return plot;
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
            usage.show(tally.all(), 0, measurements);
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

    /** What a pair of ours costs the server. */
    static Figure cost(Contestants on, String label, String number, double most) {
        return Figure.of(id(on.ours(), 1), label, Unit.COUNT, number).atMost(most);
    }
}
