package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Counted;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Contestant.Housekeeping;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.Usage;
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

/** What it costs a server that many wait for one lock: for each hand-over, and while nothing happens. */
public final class QueuedThreads implements Workload {

    private static final int CLIENTS = 8;
    private static final int MANY_CLIENTS = 50;
    private static final int FEW = 10;
    private static final double MOST_TIMES = 1.5;

    /** So many windows make the time in which nothing happens: with the usual one 10 s. */
    private static final double WINDOWS = 2.5;

    /** From when all wait to the time in which nothing happens. */
    private static final Duration SETTLING = Duration.ofSeconds(1);

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String LOCK = "queue";

    private final Field field;
    private final int most;
    private final List<Integer> counts;
    private final Goals goals;

    /** What is to be reached, if anything; made from the figures of a count. */
    private interface Goals {
        List<Figure> of(QueuedThreads workload, int count);
    }

    /** @param most how many clients there are, unless there are fewer threads */
    private QueuedThreads(Field field, int most, List<Integer> counts, Goals goals) {
        this.field = field;
        this.most = most;
        this.counts = counts;
        this.goals = goals;
    }

    public static QueuedThreads onRedis() {
        return new QueuedThreads(Field.REDIS, CLIENTS, List.of(FEW, 100, 1_000), (workload, count) -> {
            List<Figure> figures = new ArrayList<>(List.of(
                    workload.commands(count).atMost(2),
                    workload.figure(count, "idle but housekeeping, a second", "idle others")
                            .atMost(0)));
            if (count > FEW) {
                figures.add(workload.asWithFew(count).atMost(MOST_TIMES));
            }
            return figures;
        });
    }

    /**
     * On a database server.
     *
     * @param mostIdle what each client that waits may ask the server for, in a second
     */
    public static QueuedThreads onSql(Field field, OptionalDouble mostIdle) {
        return new QueuedThreads(field, CLIENTS, List.of(FEW, 100), (workload, count) -> {
            Figure idle = workload.figure(count, "idle, a second and client", "idle each");
            return List.of(workload.commands(count), mostIdle.isPresent() ? idle.atMost(mostIdle.getAsDouble()) : idle);
        });
    }

    /** On a server where each write is one of a quorum. */
    public static QueuedThreads onRegister(Field field) {
        return new QueuedThreads(
                field,
                MANY_CLIENTS,
                List.of(FEW, 100, 1_000),
                (workload, count) -> List.of(
                        workload.figure(count, "writes for a hand-over", "commits")
                                .atMost(2),
                        workload.commands(count),
                        workload.figure(count, "idle, a second and client", "idle each")));
    }

    @Override
    public String id() {
        return field.name() + "-waiters";
    }

    @Override
    public String title() {
        return field.title() + ", many who wait for one lock";
    }

    @Override
    public String method() {
        return String.format(
                "So many threads acquire and release one lock without a break, spread over %d clients of one"
                        + " JVM, and ours in strict order, so that each hand-over goes through the server to another"
                        + " client. Then one of them keeps the lock while the others wait, for %.1f windows: *idle* is"
                        + " what the server is asked for meanwhile, per second, *by each* that for each client but the"
                        + " one that has the lock, and *idle but housekeeping* what our clients do not count as"
                        + " keep-alives and safety polls.",
                most, WINDOWS);
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    private Contestant ours() {
        return Counted.inStrictOrder(field.store());
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (int count : counts) {
            for (Contestant contestant : contestants(count)) {
                cells.add(new Cell(
                        Stage.id(contestant, count),
                        contestant.isPeer(),
                        (bench, sheet) -> run(contestant, bench.scaledOverOne(count), bench, sheet)));
            }
        }
        return cells;
    }

    /** Of the peers the ends tell enough. */
    private List<Contestant> contestants(int count) {
        List<Contestant> contestants = new ArrayList<>(List.of(ours()));
        if (count == FEW || count == counts.get(counts.size() - 1)) {
            contestants.addAll(field.keepers());
        }
        return contestants;
    }

    private void run(Contestant contestant, int threads, Bench bench, Sheet sheet) throws Exception {
        List<Contestant.Client> clients = new ArrayList<>();
        try {
            for (int i = 0; i < clients(threads); i++) {
                clients.add(contestant.connect(bench.place()));
            }
            Guarded guarded = Guarded.inMemory();
            List<Crew.Post> posts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                posts.add(new Crew.Post(clients.get(i % clients.size()).mutex(LOCK), guarded));
            }
            try (Usage usage = new Usage(field.server(), bench)) {
                Crew.Tally tally =
                        Stage.work(contestant, bench.notWithin(Stage.LEAST_WARM_UP), threads, usage, posts::get, sheet);
                usage.show(tally.all(), sheet);
                guarded.check(tally.passes(), sheet);
            }
            idle(clients, posts, bench, sheet);
        } finally {
            clients.forEach(Contestant.Client::close);
        }
    }

    private int clients(int threads) {
        return Math.min(most, Math.max(CLIENTS, threads));
    }

    private void idle(List<Contestant.Client> clients, List<Crew.Post> posts, Bench bench, Sheet sheet)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(posts.size());
        try (Meter meter = Meter.of(field.server(), bench.place())) {
            Contestant.Mutex owner = clients.get(0).mutex(LOCK);
            var unused = owner.acquire();
            List<Future<?>> waits = new ArrayList<>();
            for (Crew.Post post : posts) {
                waits.add(threads.submit(() -> {
                    post.guarded().enter(post.mutex().acquire());
                    post.guarded().leave();
                    post.mutex().release();
                    return null;
                }));
            }
            bench.after(SETTLING, bench.time()).awaitBegin();
            watch(clients, meter, bench, sheet);
            owner.release();
            for (Future<?> wait : waits) {
                wait.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void watch(List<Contestant.Client> clients, Meter meter, Bench bench, Sheet sheet) {
        Housekeeping before = housekeeping(clients);
        long begin = System.nanoTime();
        Meter.Sample seen = meter.sample(Duration.ofNanos((long) (bench.time().toNanos() * WINDOWS)));
        double seconds = (System.nanoTime() - begin) / 1e9;
        Housekeeping sent = housekeeping(clients).since(before);
        sheet.put("idle", seen.commands() / seconds);
        sheet.put("idle each", seen.commands() / seconds / (clients.size() - 1));
        sheet.put("idle others", Math.max(0, seen.commands() - sent.keepAlives() - sent.polls()) / seconds);
    }

    private static Housekeeping housekeeping(List<Contestant.Client> clients) {
        return clients.stream()
                .map(Contestant.Client::housekeeping)
                .reduce(new Housekeeping(0, 0, 0), Housekeeping::plus);
    }

    @Override
    public List<Column> columns() {
        List<Column> columns = new ArrayList<>(List.of(new Column("hand-overs", Unit.PER_SECOND, "pairs/s")));
        columns.addAll(field.counts());
        columns.addAll(List.of(
                new Column("server CPU", Unit.NANOS, "server cpu"),
                new Column("p50 wait", Unit.NANOS, "p50"),
                new Column("p99 wait", Unit.NANOS, "p99"),
                new Column("idle, a second", Unit.COUNT, "idle"),
                new Column("by each", Unit.COUNT, "idle each"),
                new Column("idle but housekeeping", Unit.COUNT, "idle others")));
        return columns;
    }

    @Override
    public List<Figure> figures() {
        return counts.stream().flatMap(count -> goals.of(this, count).stream()).toList();
    }

    private Figure figure(int count, String label, String number) {
        String waiting = String.format(Locale.ROOT, "%,d wait: ", count);
        return Figure.of(Stage.id(ours(), count), waiting + label, Unit.COUNT, number);
    }

    private Figure commands(int count) {
        return figure(count, field.counts().get(0).title() + " for a hand-over", "commands");
    }

    private Figure asWithFew(int count) {
        String cell = Stage.id(ours(), count);
        return Figure.ratio(
                cell,
                String.format(Locale.ROOT, "%,d wait: commands, × those of %d", count, FEW),
                new Figure.Term(cell, "commands"),
                new Figure.Term(Stage.id(ours(), FEW), "commands"));
    }
}
