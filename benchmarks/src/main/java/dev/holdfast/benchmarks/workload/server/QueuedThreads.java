package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Contestant.Housekeeping;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What many waiters for one lock cost a server: for each hand-over, and while nothing happens. */
final class QueuedThreads {

    private static final int CLIENTS = 8;
    private static final int MANY_CLIENTS = 50;
    private static final int FEW = 10;
    private static final double MOST_TIMES = 1.5;

    /** The time in which nothing happens, in windows: by default 10 s. */
    private static final double WINDOWS = 2.5;

    /** Before that time begins. */
    private static final Duration SETTLING = Duration.ofSeconds(1);

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final String LOCK = "queue";

    private QueuedThreads() {}

    static Workload on(Contestants on) {
        int mostClients = on.isRedis() || on.isSql() ? CLIENTS : MANY_CLIENTS;
        List<Integer> counts = on.isSql() ? List.of(FEW, 100) : List.of(FEW, 100, 1_000);
        Contestant ours = on.ours().counted().with("", builder -> builder.cohortBudget(Duration.ZERO));
        Workload workload = on.workload(
                "-waiters",
                "many who wait for one lock",
                String.format(
                        Locale.ROOT,
                        "Threads acquire and release one lock without a break, spread over up to %d clients of one JVM,"
                                + " and ours in strict order, so that each hand-over goes through the server to another"
                                + " client. Then one of them keeps the lock while the others wait, for %.1f windows:"
                                + " *idle* is what the server is asked for meanwhile, per second, *by each* that for"
                                + " each client but the one that has the lock, and *idle but housekeeping* what our"
                                + " clients do not count as keep-alives and safety polls.",
                        mostClients,
                        WINDOWS));
        Plot plot = new Plot(
                workload.id(),
                on.server().title() + ", requests while threads wait for one lock",
                "waiting threads",
                true,
                "requests a second",
                Unit.COUNT);
        workload.plots().add(plot);
        // The lowest and the highest count show enough of the peers.
        List<Integer> ends = List.of(FEW, counts.get(counts.size() - 1));
        plot.lines().add(line(ours, counts));
        on.keepers().forEach(keeper -> plot.lines().add(line(keeper, ends)));
        for (int count : counts) {
            for (Contestant contestant :
                    Contestants.concat(List.of(ours), ends.contains(count) ? on.keepers() : List.of())) {
                workload.cells()
                        .add(Cell.of(
                                contestant,
                                ClientWorkers.id(contestant, count),
                                (bench, measurements) -> measure(
                                        on, contestant, mostClients, bench.scaledOverOne(count), bench, measurements)));
            }
            goals(on, ClientWorkers.id(ours, count), ClientWorkers.id(ours, FEW), count, workload);
        }
        workload.column("hand-overs", Unit.PER_SECOND, "pairs/s");
        workload.columns().addAll(on.counts());
        workload.column("server CPU", Unit.NANOS, "server cpu");
        workload.column("p50 wait", Unit.NANOS, "p50");
        workload.column("p99 wait", Unit.NANOS, "p99");
        workload.column("idle, a second", Unit.COUNT, "idle");
        workload.column("by each", Unit.COUNT, "idle each");
        workload.column("idle but housekeeping", Unit.COUNT, "idle others");
        return workload;
    }

    private static Plot.Line line(Contestant contestant, List<Integer> counts) {
        return Plot.Line.of(
                contestant.title(), counts, count -> new Figure.Term(ClientWorkers.id(contestant, count), "idle"));
    }

    private static void goals(Contestants on, String cell, String ofFew, int count, Workload workload) {
        String waiting = String.format(Locale.ROOT, "%,d wait: ", count);
        Figure commands =
                Figure.of(cell, waiting + on.counts().get(0).title() + " for a hand-over", Unit.COUNT, "commands");
        Figure idle = Figure.of(cell, waiting + "idle, a second and client", Unit.COUNT, "idle each");
        if (on.isRedis()) {
            workload.show(
                    commands.atMost(2),
                    Figure.of(cell, waiting + "idle but housekeeping, a second", Unit.COUNT, "idle others")
                            .atMost(0));
            if (count > FEW) {
                workload.show(Figure.ratio(
                                cell,
                                waiting + "commands, × those of " + FEW,
                                new Figure.Term(cell, "commands"),
                                new Figure.Term(ofFew, "commands"))
                        .atMost(MOST_TIMES));
            }
        } else {
            workload.show(commands, on.server() == Servers.Kind.MARIADB ? idle.atMost(50) : idle);
            if (!on.isSql()) {
                workload.show(Figure.of(cell, waiting + "writes for a hand-over", Unit.COUNT, "commits")
                        .atMost(2));
            }
        }
    }

    /** @param mostClients how many clients there are, unless there are fewer threads */
    private static void measure(
            Contestants on, Contestant contestant, int mostClients, int threads, Bench bench, Measurements measurements)
            throws Exception {
        List<Contestant.Client> clients = new ArrayList<>();
        try {
            for (int i = 0; i < Math.min(mostClients, Math.max(CLIENTS, threads)); i++) {
                clients.add(contestant.connect(bench.place()));
            }
            List<Contestant.Mutex> mutexes = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                mutexes.add(clients.get(i % clients.size()).mutex(LOCK));
            }
            ClientWorkers.measure(on, contestant, threads, 1, mutexes::get, bench, measurements);
            keepWaiting(on, clients, mutexes, bench, measurements);
        } finally {
            clients.forEach(Contestant.Client::close);
        }
    }

    /** One client keeps the lock while all threads wait for it. */
    private static void keepWaiting(
            Contestants on,
            List<Contestant.Client> clients,
            List<Contestant.Mutex> mutexes,
            Bench bench,
            Measurements measurements)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(mutexes.size());
        try (Meter meter = Meter.of(on.server(), bench.place())) {
            Contestant.Mutex owner = clients.get(0).mutex(LOCK);
            var unused = owner.acquire();
            List<Future<?>> waits = new ArrayList<>();
            for (Contestant.Mutex mutex : mutexes) {
                waits.add(threads.submit(() -> {
                    var token = mutex.acquire();
                    mutex.release();
                    return token;
                }));
            }
            bench.after(SETTLING).awaitBegin();
            measureIdle(clients, meter, bench, measurements);
            owner.release();
            for (Future<?> wait : waits) {
                wait.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void measureIdle(
            List<Contestant.Client> clients, Meter meter, Bench bench, Measurements measurements) {
        Housekeeping before = housekeeping(clients);
        long begin = System.nanoTime();
        Meter.Sample seen = meter.sample(Duration.ofNanos((long) (bench.time().toNanos() * WINDOWS)));
        double seconds = (System.nanoTime() - begin) / 1e9;
        Housekeeping sent = housekeeping(clients).since(before);
        measurements.put("idle", seen.commands() / seconds);
        measurements.put("idle each", seen.commands() / seconds / (clients.size() - 1));
        measurements.put("idle others", Math.max(0, seen.commands() - sent.keepAlives() - sent.polls()) / seconds);
    }

    private static Housekeeping housekeeping(List<Contestant.Client> clients) {
        return clients.stream().map(Contestant.Client::housekeeping).reduce(Housekeeping.NONE, Housekeeping::plus);
    }
}
