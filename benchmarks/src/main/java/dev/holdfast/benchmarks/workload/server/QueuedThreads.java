package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Counted;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Contestant.Housekeeping;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** What many waiters for one lock cost a server: for each hand-over, and while nothing happens. */
public final class QueuedThreads {

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

    private final Contestants on;
    private final int mostClients;

    /** @param mostClients how many clients there are, unless there are fewer threads */
    private QueuedThreads(Contestants on, int mostClients) {
        this.on = on;
        this.mostClients = mostClients;
    }

    public static Workload onRedis() {
        QueuedThreads queued = new QueuedThreads(Contestants.REDIS, CLIENTS);
        return queued.workload(List.of(FEW, 100, 1_000), count -> {
            List<Figure> figures = new ArrayList<>(List.of(
                    queued.commands(count).atMost(2),
                    queued.figure(count, "idle but housekeeping, a second", "idle others")
                            .atMost(0)));
            if (count > FEW) {
                figures.add(queued.comparedWithFew(count).atMost(MOST_TIMES));
            }
            return figures;
        });
    }

    /**
     * On a database server.
     *
     * @param mostIdle the goal for what each waiting client asks the server for, per second
     */
    public static Workload onSql(Contestants on, OptionalDouble mostIdle) {
        QueuedThreads queued = new QueuedThreads(on, CLIENTS);
        return queued.workload(List.of(FEW, 100), count -> {
            Figure idle = queued.figure(count, "idle, a second and client", "idle each");
            return List.of(queued.commands(count), mostIdle.isPresent() ? idle.atMost(mostIdle.getAsDouble()) : idle);
        });
    }

    /** On a server that writes to a quorum. */
    public static Workload onRegister(Contestants on) {
        QueuedThreads queued = new QueuedThreads(on, MANY_CLIENTS);
        return queued.workload(
                List.of(FEW, 100, 1_000),
                count -> List.of(
                        queued.figure(count, "writes for a hand-over", "commits")
                                .atMost(2),
                        queued.commands(count),
                        queued.figure(count, "idle, a second and client", "idle each")));
    }

    private Workload workload(List<Integer> counts, IntFunction<List<Figure>> goals) {
        List<Cell> cells = new ArrayList<>();
        for (int count : counts) {
            List<Contestant> contestants = new ArrayList<>(List.of(ours()));
            if (count == FEW || count == counts.get(counts.size() - 1)) {
                // The lowest and the highest count show enough of the peers.
                contestants.addAll(on.keepers());
            }
            contestants.forEach(contestant -> cells.add(Cell.of(
                    contestant,
                    ClientWorkers.id(contestant, count),
                    (bench, measurements) -> measure(contestant, bench.scaledOverOne(count), bench, measurements))));
        }
        List<Workload.Column> columns =
                new ArrayList<>(List.of(new Workload.Column("hand-overs", Unit.PER_SECOND, "pairs/s")));
        columns.addAll(on.counts());
        columns.addAll(List.of(
                new Workload.Column("server CPU", Unit.NANOS, "server cpu"),
                new Workload.Column("p50 wait", Unit.NANOS, "p50"),
                new Workload.Column("p99 wait", Unit.NANOS, "p99"),
                new Workload.Column("idle, a second", Unit.COUNT, "idle"),
                new Workload.Column("by each", Unit.COUNT, "idle each"),
                new Workload.Column("idle but housekeeping", Unit.COUNT, "idle others")));
        return new Workload(
                on.name() + "-waiters",
                on.title() + ", many who wait for one lock",
                String.format(
                        Locale.ROOT,
                        "Threads acquire and release one lock without a break, spread over %d clients of one JVM, and"
                                + " ours in strict order, so that each hand-over goes through the server to another"
                                + " client. Then one of them keeps the lock while the others wait, for %.1f windows:"
                                + " *idle* is what the server is asked for meanwhile, per second, *by each* that for"
                                + " each client but the one that has the lock, and *idle but housekeeping* what our"
                                + " clients do not count as keep-alives and safety polls.",
                        mostClients,
                        WINDOWS),
                Optional.of(on.server()),
                cells,
                List.of(),
                columns,
                counts.stream().flatMap(count -> goals.apply(count).stream()).toList());
    }

    private Contestant ours() {
        return Counted.inStrictOrder(on.store());
    }

    private void measure(Contestant contestant, int threads, Bench bench, Measurements measurements) throws Exception {
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
            keepWaiting(clients, mutexes, bench, measurements);
        } finally {
            clients.forEach(Contestant.Client::close);
        }
    }

    /** One client keeps the lock while all threads wait for it. */
    private void keepWaiting(
            List<Contestant.Client> clients, List<Contestant.Mutex> mutexes, Bench bench, Measurements measurements)
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
        return clients.stream()
                .map(Contestant.Client::housekeeping)
                .reduce(new Housekeeping(0, 0, 0), Housekeeping::plus);
    }

    private Figure figure(int count, String label, String number) {
        String waiting = String.format(Locale.ROOT, "%,d wait: ", count);
        return Figure.of(ClientWorkers.id(ours(), count), waiting + label, Unit.COUNT, number);
    }

    private Figure commands(int count) {
        return figure(count, on.counts().get(0).title() + " for a hand-over", "commands");
    }

    private Figure comparedWithFew(int count) {
        String cell = ClientWorkers.id(ours(), count);
        return Figure.ratio(
                cell,
                String.format(Locale.ROOT, "%,d wait: commands, × those of %d", count, FEW),
                new Figure.Term(cell, "commands"),
                new Figure.Term(ClientWorkers.id(ours(), FEW), "commands"));
    }
}
