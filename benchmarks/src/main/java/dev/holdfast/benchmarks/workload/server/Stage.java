package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Threads of one process that use one client of a server; and what is shown of it. */
final class Stage {

    /**
     * How long threads run before the window at least, however long the JVM and the client take to start. One thread
     * makes a few thousand pairs a second, so what it runs is compiled only after some seconds, and on few processors
     * the compiler would be measured with it.
     */
    static final Duration LEAST_WARM_UP = Duration.ofSeconds(10);

    private Stage() {}

    /** What is shown of each. */
    static List<Workload.Column> columns(Field field) {
        List<Workload.Column> columns =
                new ArrayList<>(List.of(new Workload.Column("pairs", Unit.PER_SECOND, "pairs/s")));
        columns.addAll(field.counts());
        columns.addAll(List.of(
                new Workload.Column("server CPU", Unit.NANOS, "server cpu"),
                new Workload.Column("client CPU", Unit.NANOS, "client cpu"),
                new Workload.Column("p50 wait", Unit.NANOS, "p50"),
                new Workload.Column("p99 wait", Unit.NANOS, "p99"),
                new Workload.Column("p99.9 wait", Unit.NANOS, "p99.9"),
                new Workload.Column("longest", Unit.NANOS, "max")));
        return columns;
    }

    /** What the columns are, for the page. */
    static String columnsText(Field field) {
        return field.texts().counts()
                + "; *server CPU* and *client CPU* are the processor time of both for a pair; a *wait*"
                + " is the time that an acquisition takes.";
    }

    /**
     * Measures.
     *
     * @param locks how many locks there are; the threads take them in turn
     */
    static void play(Field field, Contestant contestant, int threads, int locks, Bench bench, Sheet sheet)
            throws Exception {
        List<Guarded> guarded = Stream.generate(Guarded::inMemory).limit(locks).toList();
        try (Usage usage = new Usage(field.server(), bench);
                Contestant.Client client = contestant.connect(bench.place())) {
            List<Crew.Post> posts = IntStream.range(0, threads)
                    .mapToObj(i -> new Crew.Post(client.mutex("name-" + i % locks), guarded.get(i % locks)))
                    .toList();
            Crew.Tally tally = work(contestant, bench.notWithin(LEAST_WARM_UP), threads, usage, posts::get, sheet);
            usage.show(tally.all(), sheet);
            Guarded.check(guarded, tally.passes(), sheet);
        }
    }

    /**
     * Runs a crew, and puts what came of it on a sheet. Our own threads must all end well, and in a short trial too
     * they have the time for it that a slow machine takes.
     */
    static Crew.Tally work(
            Contestant contestant,
            Bench bench,
            int threads,
            Crew.Watch watch,
            IntFunction<Crew.Post> posts,
            Sheet sheet)
            throws Exception {
        Duration patience = contestant.isPeer() ? Crew.patienceWithPeers(bench) : Crew.PATIENCE;
        return work(contestant, bench, threads, watch, patience, posts, sheet);
    }

    /** As the other, with so much time for threads to end. */
    static Crew.Tally work(
            Contestant contestant,
            Bench bench,
            int threads,
            Crew.Watch watch,
            Duration patience,
            IntFunction<Crew.Post> posts,
            Sheet sheet)
            throws Exception {
        Crew.Tally tally = Crew.run(bench, threads, watch, patience, posts);
        if (contestant.isPeer()) {
            tally.remarkFailures(sheet);
        } else {
            var unused = tally.requireAllEnded();
        }
        tally.show(sheet);
        return tally;
    }

    static String id(Contestant contestant, int threads) {
        return contestant.title() + "-" + threads;
    }

    /** How many pairs ours made, by those of others. */
    static Figure times(String subject, String what, List<String> others) {
        return Figure.ratio(
                subject, "pairs, × " + what, new Figure.Term(subject, "pairs/s"), new Figure.Term(others, "pairs/s"));
    }

    static List<String> ids(List<Contestant> contestants, int threads) {
        List<String> ids = new ArrayList<>();
        contestants.forEach(contestant -> ids.add(id(contestant, threads)));
        return ids;
    }
}
