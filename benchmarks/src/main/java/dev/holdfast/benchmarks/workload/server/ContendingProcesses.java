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
import dev.holdfast.benchmarks.server.Ping;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/** One hot lock on a server, in several processes. */
final class ContendingProcesses {

    private static final int PROCESSES = 4;
    private static final int THREADS = 4;

    /** Until then the compilers of all processes take more of two processors than what is measured. */
    private static final Duration WARM_UP = Duration.ofSeconds(40);

    private static final Duration COLD = Duration.ofSeconds(1);

    /** How long before the window the server's commands are sampled. */
    private static final Duration SAMPLE = Duration.ofMillis(300);

    private static final String PASSES = "passes";
    private static final String PINGS = "pings";
    private static final String CPU = "cpu";
    private static final List<String> AVERAGES = List.of("hand-off p50", "hand-off p99", "ping p50", "ping p99");

    private ContendingProcesses() {}

    static Workload on(Contestants on) {
        Workload workload = on.workload(
                "-processes",
                "one hot lock in several processes",
                String.format(
                        Locale.ROOT,
                        "%d processes with %d threads each acquire and release one lock without a break; `%s` serves in"
                                + " strict order. *Spread* is what the fastest process did, divided by what the slowest"
                                + " did. *Changes* is the part of the acquisitions that came from another process, and"
                                + " *hand-off* the time from the end in one process to the begin in the other. *Ping*"
                                + " is the time of the smallest request, or write, that each process of `%s` sends each"
                                + " hundredth of a second. Waits are those of the process in which they are longest."
                                + " Before, the threads of each process make %,d pairs with a lock each, and as many"
                                + " with a lock that they hand over between two clients; the window opens %d s later. `%s`"
                                + " has no such preparation: its window opens %d s after the start of the last process.",
                        PROCESSES,
                        THREADS,
                        on.oursFair().title(),
                        on.oursFair().title(),
                        Workers.WARM_UP_PAIRS,
                        WARM_UP.toSeconds(),
                        cold(on),
                        COLD.toSeconds()));
        for (Contestant contestant : Contestants.concat(on.all(), on.fair())) {
            add(on, contestant, contestant.title(), WARM_UP, workload);
        }
        add(on, on.ours(), cold(on), COLD, workload);
        workload.column("pairs", Unit.PER_SECOND, "pairs/s");
        workload.column("spread", Unit.TIMES, "spread");
        workload.column("changes", Unit.PERCENT, "changes");
        workload.column("hand-off p50", Unit.NANOS, "hand-off p50");
        workload.column("p99", Unit.NANOS, "hand-off p99");
        workload.column("ping p50", Unit.NANOS, "ping p50");
        workload.column("p99", Unit.NANOS, "ping p99");
        workload.column("p50 wait", Unit.NANOS, "p50");
        workload.column("p99 wait", Unit.NANOS, "p99");
        workload.column("longest", Unit.NANOS, "max");
        workload.columns().addAll(on.counts());
        workload.column("server CPU", Unit.NANOS, "server cpu");
        workload.column("client CPU", Unit.NANOS, "client cpu");
        goals(on, on.ours().title(), on.oursFair().title(), workload);
        workload.show(Figure.of(cold(on), "spread", Unit.TIMES, "spread"));
        return workload;
    }

    private static String cold(Contestants on) {
        return on.ours().title() + "-cold";
    }

    private static void add(Contestants on, Contestant contestant, String cell, Duration warmUp, Workload workload) {
        String process = cell + "-process";
        workload.part(
                process, (bench, measurements) -> takePart(on, contestant, warmUp.equals(COLD), bench, measurements));
        workload.cells().add(Cell.of(contestant, cell, (bench, measurements) -> {
            try (Usage usage = new Usage(on.server(), bench);
                    Gathering processes = Gathering.of(bench.scaledOverOne(PROCESSES), workload.id(), process, bench)) {
                measure(usage, processes, warmUp, bench, measurements);
            }
        }));
    }

    private static void goals(Contestants on, String ours, String fair, Workload workload) {
        workload.show(
                times(ours, "the best peer", on.peers()).atLeast(on.goal(10, 10, 20)),
                Figure.of(ours, "spread", Unit.TIMES, "spread").atMost(1.2),
                Figure.of(ours, "p99 wait", Unit.NANOS, "p99").atMost(on.goal(100e6, 100e6, 200e6)));
        on.serversOwn()
                .forEach(own ->
                        workload.show(times(ours, own.title(), List.of(own)).atLeast(1)));
        if (on.isRedis()) {
            workload.show(
                    times(fair, "the best fair peer", on.fairPeers()).atLeast(4),
                    times(fair, "raw", List.of(on.raw())).atLeast(0.8));
        } else {
            workload.show(times(fair, "the best peer", on.peers()).atLeast(on.goal(0, 3, 1.5)));
        }
        if (on.server() == Servers.Kind.MARIADB) {
            workload.show(
                    Figure.of(fair, "hand-off p50", Unit.NANOS, "hand-off p50").atMost(10e6), timesPing(fair, "p50"));
        } else {
            Figure p99 = timesPing(fair, "p99");
            workload.show(timesPing(fair, "p50").atMost(on.goal(2, 3, 2)), on.isRedis() ? p99.atMost(3) : p99);
        }
    }

    private static Figure times(String cell, String label, List<Contestant> others) {
        return ClientWorkers.times(
                cell, label, others.stream().map(Contestant::title).toList());
    }

    private static Figure timesPing(String cell, String percentile) {
        return Figure.ratio(
                cell,
                "hand-off " + percentile + ", × ping " + percentile,
                "hand-off " + percentile,
                "ping " + percentile);
    }

    /** One of the processes. */
    private static void takePart(
            Contestants on, Contestant contestant, boolean isCold, Bench bench, Measurements measurements)
            throws Exception {
        boolean pings = contestant.title().equals(on.oursFair().title());
        try (Contestant.Client client = contestant.connect(bench.place());
                Ping ping = pings ? Ping.of(on.server(), bench.place()) : Ping.NONE) {
            if (!isCold) {
                warmUp(contestant, client, bench);
            }
            Bench common = Gathering.join(bench);
            HandOverProbe probe = new HandOverProbe(common);
            Pinger pinger = Pinger.start(common, ping.request());
            Workers.Tally tally = workers(contestant, common, unused -> new Workers.Post(client.mutex("hot"), probe))
                    .runFromBegin();
            tally.show(measurements);
            measurements.put(PASSES, tally.passes());
            measurements.put(CPU, tally.cpuNanos());
            probe.show(measurements);
            measurements.put(PINGS, pings ? pinger.show(measurements) : 0);
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

    private static void measure(
            Usage usage, Gathering processes, Duration warmUp, Bench bench, Measurements measurements)
            throws Exception {
        Bench common = processes.open(warmUp);
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
