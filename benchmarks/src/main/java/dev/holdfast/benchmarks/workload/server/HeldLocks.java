package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
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
import java.util.concurrent.TimeUnit;

/** Many locks on a server that one client holds, and nothing else happens. */
final class HeldLocks {

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

    static Workload on(Contestants on) {
        Holdfasts ours = on.ours().counted();
        Holdfasts alone = ours.with(
                "-no-audits", builder -> builder.sessionTtl(Duration.ofHours(1)).keepAliveEvery(INTERVAL));
        Workload workload = on.workload(
                "-held",
                String.format(Locale.ROOT, "%,d locks that are held", LOCKS),
                String.format(
                        Locale.ROOT,
                        "One client holds %,d locks, for at least %d s and then for %.1f windows, which are measured,"
                                + " and does nothing else. They are kept alive every %d s, for %d s: these are the"
                                + " defaults. `%s` has a ttl of an hour, so hardly an audit. The window falls between"
                                + " two cleanings of the tables of a database.",
                        LOCKS,
                        SETTLING.toSeconds(),
                        WINDOWS,
                        INTERVAL.toSeconds(),
                        TTL.toSeconds(),
                        alone.title()));
        for (Contestant contestant :
                Contestants.concat(on.isSql() ? List.of(ours, alone) : List.of(ours), on.keepers())) {
            workload.cells()
                    .add(Cell.of(
                            contestant,
                            contestant.title(),
                            (bench, measurements) -> measure(on, contestant, bench, measurements)));
        }
        on.counts().forEach(count -> workload.column(count.title() + " per interval", count.unit(), count.number()));
        workload.column("client CPU", Unit.PERCENT, "client cpu");
        workload.column("server CPU", Unit.PERCENT, "server cpu");
        // etcd is asked for its leader before and after a renewal.
        workload.show(
                on.isSql()
                        ? Figure.of(alone.title(), "statements of a keep-alive", Unit.COUNT, "of a keep-alive")
                                .atMost(1)
                        : Figure.of(
                                        ours.title(),
                                        "commands per keep-alive interval, but audits",
                                        Unit.COUNT,
                                        "but audits")
                                .atMost(on.goal(2, 0, 3)),
                Figure.of(ours.title(), "audits per ttl and 500 holds", Unit.COUNT, "audits")
                        .atMost(1),
                Figure.of(ours.title(), "client CPU, of one core", Unit.PERCENT, "client cpu")
                        .atMost(0.01));
        return workload;
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
