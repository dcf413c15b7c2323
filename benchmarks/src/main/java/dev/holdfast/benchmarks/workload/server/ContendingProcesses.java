package dev.holdfast.benchmarks.workload.server;

import static dev.holdfast.benchmarks.harness.Measurements.sum;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.HandOverProbe;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Pinger;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Launcher;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntFunction;

/** One hot lock on a server, in several processes. */
public final class ContendingProcesses {

    private static final int PROCESSES = 4;
    private static final int THREADS = 4;

    /** Until then the compilers of all processes take more of two processors than what is measured. */
    private static final Duration WARM_UP = Duration.ofSeconds(40);

    /** How long before the window the server's commands are sampled. */
    private static final Duration SAMPLE = Duration.ofMillis(300);

    private static final String PASSES = "passes";
    private static final String PINGS = "pings";
    private static final String CPU = "cpu";
    private static final List<String> AVERAGES = List.of("hand-off p50", "hand-off p99", "ping p50", "ping p99");

    private ContendingProcesses() {}

    public static Workload onRedis(Launcher launcher) {
        Contestants on = Contestants.REDIS;
        String fair = on.oursFair().title();
        List<Figure> figures = goals(on, 10, 100e6);
        figures.addAll(List.of(
                ClientWorkers.times(fair, "the best fair peer", titles(on.fairPeers()))
                        .atLeast(4),
                ClientWorkers.times(fair, "raw", List.of(on.raw().title())).atLeast(0.8),
                timesPing(fair, "p50").atMost(2),
                timesPing(fair, "p99").atMost(3)));
        return of(on, launcher, figures);
    }

    public static Workload onPostgresql(Launcher launcher) {
        List<Figure> figures = goalsOnSql(Contestants.POSTGRESQL);
        String fair = Contestants.POSTGRESQL.oursFair().title();
        figures.addAll(List.of(timesPing(fair, "p50").atMost(3), timesPing(fair, "p99")));
        return of(Contestants.POSTGRESQL, launcher, figures);
    }

    public static Workload onMariaDb(Launcher launcher) {
        List<Figure> figures = goalsOnSql(Contestants.MARIADB);
        String fair = Contestants.MARIADB.oursFair().title();
        figures.addAll(List.of(
                Figure.of(fair, "hand-off p50", Unit.NANOS, "hand-off p50").atMost(10e6), timesPing(fair, "p50")));
        return of(Contestants.MARIADB, launcher, figures);
    }

    /** On a server that writes to a quorum; so does a ping. */
    public static Workload onRegister(Contestants on, Launcher launcher) {
        String fair = on.oursFair().title();
        List<Figure> figures = goals(on, 20, 200e6);
        figures.addAll(List.of(
                ClientWorkers.times(fair, "the best peer", titles(on.peers())).atLeast(1.5),
                timesPing(fair, "p50").atMost(2),
                timesPing(fair, "p99")));
        return of(on, launcher, figures);
    }

    private static List<Figure> goalsOnSql(Contestants on) {
        List<Figure> figures = goals(on, 10, 100e6);
        for (Contestant own : on.serversOwn()) {
            figures.add(ClientWorkers.times(on.ours().title(), own.title(), List.of(own.title()))
                    .atLeast(1));
        }
        figures.add(ClientWorkers.times(on.oursFair().title(), "the best peer", titles(on.peers()))
                .atLeast(3));
        return figures;
    }

    /** The goals with default settings. */
    private static List<Figure> goals(Contestants on, double timesBestPeer, double mostWait) {
        String ours = on.ours().title();
        return new ArrayList<>(List.of(
                ClientWorkers.times(ours, "the best peer", titles(on.peers())).atLeast(timesBestPeer),
                Figure.of(ours, "spread", Unit.TIMES, "spread").atMost(1.2),
                Figure.of(ours, "p99 wait", Unit.NANOS, "p99").atMost(mostWait)));
    }

    private static Figure timesPing(String cell, String percentile) {
        return Figure.ratio(
                cell,
                "hand-off " + percentile + ", × ping " + percentile,
                new Figure.Term(cell, "hand-off " + percentile),
                new Figure.Term(cell, "ping " + percentile));
    }

    private static List<String> titles(List<Contestant> contestants) {
        return contestants.stream().map(Contestant::title).toList();
    }

    private static Workload of(Contestants on, Launcher launcher, List<Figure> figures) {
        String id = on.name() + "-processes";
        List<Contestant> contestants = new ArrayList<>(on.all());
        contestants.addAll(on.fair());
        List<Cell> cells = new ArrayList<>();
        List<Cell> parts = new ArrayList<>();
        for (Contestant contestant : contestants) {
            String process = contestant.title() + "-process";
            parts.add(new Cell(process, (bench, measurements) -> takePart(contestant, bench, measurements)));
            cells.add(Cell.of(contestant, contestant.title(), (bench, measurements) -> {
                try (Usage usage = new Usage(on.server(), bench);
                        Gathering processes = launcher.gather(bench.scaledOverOne(PROCESSES), id, process, bench)) {
                    measure(usage, processes, bench, measurements);
                }
            }));
        }
        return new Workload(
                id,
                on.title() + ", one hot lock in several processes",
                method(on),
                Optional.of(on.server()),
                cells,
                parts,
                columns(on),
                figures);
    }

    private static String method(Contestants on) {
        return String.format(
                Locale.ROOT,
                "%d processes with %d threads each acquire and release one lock without a break; `%s` serves"
                        + " in strict order over all of them. *Spread* is what the fastest process did, divided by what"
                        + " the slowest did. *Changes* is which part of the acquisitions came from another process, and"
                        + " *hand-off* the time from the end of what is protected in one process to its begin in the"
                        + " other, by the clock that both share. *Ping* is the time of %s that a further thread of each"
                        + " process sends through the same driver each hundredth of a second meanwhile. Waits are those"
                        + " of the process in which they are longest, hand-offs and pings are on average over the"
                        + " processes. Before they meet, the threads of each process make %,d pairs with a lock of"
                        + " their own, and as many with a lock that they hand over between two clients, so that the"
                        + " code is compiled; the window opens %d s after that.",
                PROCESSES,
                THREADS,
                on.oursFair().title(),
                on.texts().ping(),
                Workers.WARM_UP_PAIRS,
                WARM_UP.toSeconds());
    }

    private static List<Workload.Column> columns(Contestants on) {
        List<Workload.Column> columns = new ArrayList<>(List.of(
                ClientWorkers.PAIRS,
                new Workload.Column("spread", Unit.TIMES, "spread"),
                new Workload.Column("changes", Unit.PERCENT, "changes"),
                new Workload.Column("hand-off p50", Unit.NANOS, "hand-off p50"),
                new Workload.Column("p99", Unit.NANOS, "hand-off p99"),
                new Workload.Column("ping p50", Unit.NANOS, "ping p50"),
                new Workload.Column("p99", Unit.NANOS, "ping p99"),
                new Workload.Column("p50 wait", Unit.NANOS, "p50"),
                new Workload.Column("p99 wait", Unit.NANOS, "p99"),
                new Workload.Column("longest", Unit.NANOS, "max")));
        columns.addAll(on.counts());
        columns.add(new Workload.Column("server CPU", Unit.NANOS, "server cpu"));
        columns.add(new Workload.Column("client CPU", Unit.NANOS, "client cpu"));
        return columns;
    }

    /** One of the processes. */
    private static void takePart(Contestant contestant, Bench bench, Measurements measurements) throws Exception {
        try (Contestant.Client client = contestant.connect(bench.place())) {
            warmUp(contestant, client, bench);
            Bench common = Gathering.join(bench);
            HandOverProbe probe = new HandOverProbe(common);
            Optional<Pinger> pinger = Pinger.start(common, client);
            Workers.Tally tally = workers(contestant, common, unused -> new Workers.Post(client.mutex("hot"), probe))
                    .runFromBegin();
            tally.show(measurements);
            measurements.put(PASSES, tally.passes());
            measurements.put(CPU, tally.cpuNanos());
            probe.show(measurements);
            measurements.put(PINGS, pinger.isPresent() ? pinger.get().show(measurements) : 0);
        }
    }

    /** Hand-overs between processes are few; without this, too little of the code would be compiled. */
    private static void warmUp(Contestant contestant, Contestant.Client client, Bench bench) throws Exception {
        String own = "own-" + ProcessHandle.current().pid();
        workers(contestant, bench, i -> new Workers.Post(client.mutex(own + "-" + i), Guarded.inMemory()))
                .warmUpOnly();
        try (Contestant.Client other = contestant.connect(bench.place())) {
            Guarded guarded = Guarded.inMemory();
            workers(contestant, bench, i -> new Workers.Post((i % 2 == 0 ? client : other).mutex(own), guarded))
                    .warmUpOnly();
        }
    }

    private static Workers workers(Contestant contestant, Bench bench, IntFunction<Workers.Post> posts) {
        return Workers.of(contestant, bench, bench.scaledOverOne(THREADS), posts);
    }

    private static void measure(Usage usage, Gathering processes, Bench bench, Measurements measurements)
            throws Exception {
        Bench common = processes.open(WARM_UP);
        common.awaitShortlyBefore(bench.scaled(SAMPLE));
        usage.sample();
        common.awaitBegin();
        usage.begin();
        common.awaitEnd();
        usage.read();
        List<Measurements> all = processes.measurements();
        measurements.combine(all);
        measurements.put("changes", sum(all, "changes") / Math.max(1, sum(all, "entered")));
        for (String number : AVERAGES) {
            if (all.get(0).has(number)) {
                measurements.put(number, sum(all, number) / all.size());
            }
        }
        double pairs = sum(all, "pairs/s") * common.time().toNanos() / 1e9;
        usage.show(Math.round(pairs), sum(all, PINGS), measurements);
        if (pairs > 0) {
            measurements.put("client cpu", sum(all, CPU) / pairs);
        }
        Guarded.inFile(bench.place()).check(Math.round(sum(all, PASSES)), measurements);
    }
}
