package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.Contestant.Housekeeping;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Many locks on a server that one client holds, and nothing else happens. */
final class HeldLocks implements Workload {

    private static final int HELD = 10_000;

    /** So many windows make what is measured: with the usual one half a minute, three intervals of both. */
    private static final double WINDOWS = 7.5;

    /** The intervals and the ttl of both, by their defaults. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final Duration TTL = Duration.ofSeconds(30);

    /** What is compiled and collected in the wake of all the acquisitions is not looked at. */
    private static final Duration SETTLING = Duration.ofSeconds(2);

    private static final int HOLDS_OF_AN_AUDIT = 500;

    private final Field field;

    HeldLocks(Field field) {
        this.field = field;
    }

    @Override
    public String id() {
        return field.name() + "-held";
    }

    @Override
    public String title() {
        return field.title() + ", %,d locks that are held".formatted(HELD);
    }

    @Override
    public String method() {
        return "One client holds %,d locks, for %.1f windows, and does nothing else. Both keep them alive every %d s, for %d s: these are their defaults. The server's count is by all that it did meanwhile; which of our commands are audits is counted in the client."
                .formatted(HELD, WINDOWS, INTERVAL.toSeconds(), TTL.toSeconds());
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    private List<Contestant> contestants() {
        return List.of(Counted.asItComes(field.store()), field.peers().get(0));
    }

    @Override
    public List<Cell> cells() {
        return contestants().stream()
                .map(contestant -> new Cell(
                        contestant.title(), contestant.isPeer(), (bench, sheet) -> hold(contestant, bench, sheet)))
                .toList();
    }

    private void hold(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        try (Meter meter = Meter.of(field.server(), bench.place());
                Contestant.Client client = contestant.connect(bench.place())) {
            List<Contestant.Mutex> held = new ArrayList<>();
            for (int i = 0; i < bench.scaled(HELD); i++) {
                Contestant.Mutex mutex = client.mutex("tenant-7/order-" + i);
                var unused = mutex.acquire();
                held.add(mutex);
            }
            bench.after(SETTLING, bench.time()).awaitBegin();
            keep(client, held.size(), meter, bench, sheet);
            for (Contestant.Mutex mutex : held) {
                mutex.release();
            }
        }
    }

    private static void keep(Contestant.Client client, int held, Meter meter, Bench bench, Sheet sheet) {
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
        // The one that reads the meter is seen too.
        double commands = Math.max(0, seen.commands() - 1);
        sheet.put("commands", commands / intervals);
        sheet.put("but audits", (commands - sent.audits()) / intervals);
        sheet.put("in scripts", seen.inner() / intervals);
        sheet.put("audits", sent.audits() / (nanos / TTL.toNanos()) / ((double) held / HOLDS_OF_AN_AUDIT));
        sheet.put("client cpu", cpu / nanos);
        sheet.put("server cpu", used.cpuNanos() / nanos);
    }

    /** The one that looks at the server is busy with that. */
    private static long cpuOfOtherThreads() {
        return Processors.ofThisProcess() - ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Override
    public List<Column> columns() {
        return List.of(
                new Column("commands per interval", Unit.COUNT, "commands"),
                new Column("in scripts", Unit.COUNT, "in scripts"),
                new Column("client CPU", Unit.PERCENT, "client cpu"),
                new Column("server CPU", Unit.PERCENT, "server cpu"));
    }

    @Override
    public List<Figure> figures() {
        String ours = field.store().title();
        return List.of(
                Figure.of(ours, "commands per keep-alive interval, but audits", Unit.COUNT, "but audits")
                        .atMost(2),
                Figure.of(ours, "audits per ttl and 500 holds", Unit.COUNT, "audits")
                        .atMost(1),
                Figure.of(ours, "client CPU, of one core", Unit.PERCENT, "client cpu")
                        .atMost(0.01));
    }
}
