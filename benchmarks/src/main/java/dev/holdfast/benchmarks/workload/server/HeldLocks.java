package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Counted;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Contestant.Housekeeping;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Many locks on a server that one client holds, and nothing else happens. */
public final class HeldLocks {

    private static final int LOCKS = 10_000;

    /** The length of the measurement, in windows: by default half a minute, three intervals of both. */
    private static final double WINDOWS = 7.5;

    /** The default interval and ttl of both. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final Duration TTL = Duration.ofSeconds(30);

    /** Until then the compiler and the collector are busy with the acquisitions and the first audits. */
    private static final Duration SETTLING = Duration.ofSeconds(45);

    /**
     * When the window may open, from the opening of the client, so that no cleaning of a database falls into it. A
     * cleaning begins with the first command 66 s after the one before, which is a keep-alive: that is after 66 s to
     * 76 s, 132 s to 152 s, and 198 s to 228 s.
     */
    private static final List<Duration> BETWEEN_CLEANINGS =
            List.of(Duration.ofSeconds(80), Duration.ofSeconds(156), Duration.ofSeconds(230));

    private static final int HOLDS_OF_AN_AUDIT = 500;

    private HeldLocks() {}

    public static Workload onRedis() {
        return withoutAudits(Contestants.REDIS, 2);
    }

    /** On a server that keeps sessions itself; etcd is asked for its leader before and after a renewal. */
    public static Workload onRegister(Contestants on) {
        return withoutAudits(on, 3);
    }

    private static Workload withoutAudits(Contestants on, double most) {
        Contestant ours = Counted.withDefaults(on.store());
        Figure commands =
                Figure.of(ours.title(), "commands per keep-alive interval, but audits", Unit.COUNT, "but audits");
        return of(on, List.of(ours), "", commands.atMost(most));
    }

    public static Workload onSql(Contestants on) {
        Contestant alone = Counted.withoutAudits(on.store(), INTERVAL);
        String note = String.format(
                " `%s` has a ttl of an hour, and each client one audit per ttl. The cleaning of the tables, about 25"
                        + " statements of one client for all every 66 s, does not fall into the window, which opens"
                        + " between two of them.",
                alone.title());
        Figure statements = Figure.of(alone.title(), "statements of a keep-alive", Unit.COUNT, "of a keep-alive");
        return of(on, List.of(Counted.withDefaults(on.store()), alone), note, statements.atMost(1));
    }

    private static Workload of(Contestants on, List<Contestant> ours, String note, Figure commands) {
        List<Contestant> contestants = new ArrayList<>(ours);
        contestants.addAll(on.keepers());
        List<Workload.Column> columns = new ArrayList<>();
        on.counts()
                .forEach(count -> columns.add(
                        new Workload.Column(count.title() + " per interval", count.unit(), count.number())));
        columns.add(new Workload.Column("client CPU", Unit.PERCENT, "client cpu"));
        columns.add(new Workload.Column("server CPU", Unit.PERCENT, "server cpu"));
        String first = ours.get(0).title();
        return new Workload(
                on.name() + "-held",
                String.format(Locale.ROOT, "%s, %,d locks that are held", on.title(), LOCKS),
                String.format(
                        Locale.ROOT,
                        "One client holds %,d locks, for at least %d s and then for %.1f windows, which are measured,"
                                + " and does nothing else. They are kept alive every %d s, for %d s: these are the"
                                + " defaults.%s The server's count includes everything that it did meanwhile; the"
                                + " client counts which of our commands are audits.",
                        LOCKS,
                        SETTLING.toSeconds(),
                        WINDOWS,
                        INTERVAL.toSeconds(),
                        TTL.toSeconds(),
                        note),
                Optional.of(on.server()),
                contestants.stream()
                        .map(contestant -> Cell.of(
                                contestant,
                                contestant.title(),
                                (bench, measurements) -> measure(on, contestant, bench, measurements)))
                        .toList(),
                List.of(),
                columns,
                List.of(
                        commands,
                        Figure.of(first, "audits per ttl and 500 holds", Unit.COUNT, "audits")
                                .atMost(1),
                        Figure.of(first, "client CPU, of one core", Unit.PERCENT, "client cpu")
                                .atMost(0.01)));
    }

    private static void measure(Contestants on, Contestant contestant, Bench bench, Measurements measurements)
            throws Exception {
        try (Meter meter = Meter.of(on.server(), bench.place());
                Contestant.Client client = contestant.connect(bench.place())) {
            long opened = System.nanoTime();
            List<Contestant.Mutex> mutexes = new ArrayList<>();
            for (int i = 0; i < bench.scaled(LOCKS); i++) {
                Contestant.Mutex mutex = client.mutex("tenant-7/order-" + i);
                var unused = mutex.acquire();
                mutexes.add(mutex);
            }
            Duration pause = pause(Duration.ofNanos(System.nanoTime() - opened));
            TimeUnit.NANOSECONDS.sleep(bench.scaled(pause).toNanos());
            hold(client, mutexes.size(), meter, bench, measurements);
            for (Contestant.Mutex mutex : mutexes) {
                mutex.release();
            }
        }
    }

    /** The time until the window opens, for a client that has been open for a while. */
    private static Duration pause(Duration open) {
        Duration settled = open.plus(SETTLING);
        return BETWEEN_CLEANINGS.stream()
                .filter(opening -> opening.compareTo(settled) >= 0)
                .findFirst()
                .orElse(settled)
                .minus(open);
    }

    private static void hold(Contestant.Client client, int locks, Meter meter, Bench bench, Measurements measurements) {
        Housekeeping before = client.housekeeping();
        Meter.Reading begin = meter.read();
        long began = System.nanoTime();
        long cpu = cpuOfOtherThreads();
        Meter.Sample seen = meter.sample(Duration.ofNanos((long) (bench.time().toNanos() * WINDOWS)));
        cpu = cpuOfOtherThreads() - cpu;
        double nanos = System.nanoTime() - began;
        Meter.Reading used = meter.read().since(begin);
        Housekeeping sent = client.housekeeping().since(before);
        double intervals = nanos / INTERVAL.toNanos();
        double commands = seen.commands();
        measurements.put("commands", commands / intervals);
        measurements.put("but audits", (commands - sent.audits()) / intervals);
        measurements.put("in scripts", seen.inner() / intervals);
        measurements.put("commits", used.commits() / intervals);
        measurements.put("of a keep-alive", sent.keepAlives() == 0 ? 0 : commands / sent.keepAlives());
        measurements.put("audits", sent.audits() / (nanos / TTL.toNanos()) / ((double) locks / HOLDS_OF_AN_AUDIT));
        measurements.put("client cpu", cpu / nanos);
        measurements.put("server cpu", used.cpuNanos() / nanos);
    }

    /** Without this thread, which reads the server's counters. */
    private static long cpuOfOtherThreads() {
        return Processors.ofThisProcess() - ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
