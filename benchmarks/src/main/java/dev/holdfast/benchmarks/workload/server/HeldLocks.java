package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Counted;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Contestant.Housekeeping;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Many locks on a server that one client holds, and nothing else happens. */
public final class HeldLocks implements Workload {

    private static final int HELD = 10_000;

    /** So many windows make what is measured: with the usual one half a minute, three intervals of both. */
    private static final double WINDOWS = 7.5;

    /** The intervals and the ttl of both, by their defaults. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final Duration TTL = Duration.ofSeconds(30);

    /**
     * What is compiled and collected in the wake of all the acquisitions, and of the first audits, is not looked at.
     */
    private static final Duration SETTLING = Duration.ofSeconds(45);

    /**
     * The window opens so long after the client did, so that the cleaning of a database does not fall into it: each
     * begins with the first command 66 s after the one before, which is a keep-alive, so the first ones after 66 s to
     * 76 s, 132 s to 152 s, and 198 s to 228 s.
     */
    private static final List<Duration> BETWEEN_CLEANINGS =
            List.of(Duration.ofSeconds(80), Duration.ofSeconds(156), Duration.ofSeconds(230));

    private static final int HOLDS_OF_AN_AUDIT = 500;

    private final Field field;
    private final List<Contestant> ours;
    private final List<Figure> figures;

    private HeldLocks(Field field, List<Contestant> ours, List<Figure> figures) {
        this.field = field;
        this.ours = ours;
        this.figures = figures;
    }

    public static HeldLocks onRedis() {
        return butAudits(Field.REDIS, 2);
    }

    /** On a server that keeps sessions itself; etcd is asked who leads before and after a renewal. */
    public static HeldLocks onRegister(Field field) {
        return butAudits(field, 3);
    }

    private static HeldLocks butAudits(Field field, double most) {
        Contestant ours = Counted.asItComes(field.store());
        return new HeldLocks(
                field,
                List.of(ours),
                List.of(
                        Figure.of(
                                        ours.title(),
                                        "commands per keep-alive interval, but audits",
                                        Unit.COUNT,
                                        "but audits")
                                .atMost(most),
                        audits(ours),
                        cpu(ours)));
    }

    public static HeldLocks onSql(Field field) {
        Contestant ours = Counted.asItComes(field.store());
        Contestant alone = Counted.withoutAudits(field.store(), INTERVAL);
        return new HeldLocks(
                field,
                List.of(ours, alone),
                List.of(
                        Figure.of(alone.title(), "statements of a keep-alive", Unit.COUNT, "of a keep-alive")
                                .atMost(1),
                        audits(ours),
                        cpu(ours)));
    }

    private static Figure audits(Contestant ours) {
        return Figure.of(ours.title(), "audits per ttl and 500 holds", Unit.COUNT, "audits")
                .atMost(1);
    }

    private static Figure cpu(Contestant ours) {
        return Figure.of(ours.title(), "client CPU, of one core", Unit.PERCENT, "client cpu")
                .atMost(0.01);
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
        String alone = ours.size() == 1
                ? ""
                : String.format(
                        " `%s` has a ttl of an hour, of which each has one audit. The cleaning of the tables,"
                                + " about 25 statements of one client for all every 66 s, does not fall into the"
                                + " window, which opens between two of them.",
                        ours.get(1).title());
        return String.format(
                "One client holds %,d locks, for %d s at least and then for %.1f windows, which are looked"
                        + " at, and does nothing else. They are kept alive every %d s, for %d s: these are the"
                        + " defaults.%s The server's count is by all that it did meanwhile; which of our commands are"
                        + " audits is counted in the client.",
                HELD, SETTLING.toSeconds(), WINDOWS, INTERVAL.toSeconds(), TTL.toSeconds(), alone);
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    private List<Contestant> contestants() {
        List<Contestant> contestants = new ArrayList<>(ours);
        contestants.addAll(field.keepers());
        return contestants;
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
            long opened = System.nanoTime();
            List<Contestant.Mutex> held = new ArrayList<>();
            for (int i = 0; i < bench.scaled(HELD); i++) {
                Contestant.Mutex mutex = client.mutex("tenant-7/order-" + i);
                var unused = mutex.acquire();
                held.add(mutex);
            }
            bench.notWithin(settling(Duration.ofNanos(System.nanoTime() - opened)))
                    .awaitBegin();
            keep(client, held.size(), meter, bench, sheet);
            for (Contestant.Mutex mutex : held) {
                mutex.release();
            }
        }
    }

    /** The time from now to the window. */
    private static Duration settling(Duration open) {
        Duration settled = open.plus(SETTLING);
        return BETWEEN_CLEANINGS.stream()
                .filter(opening -> opening.compareTo(settled) >= 0)
                .findFirst()
                .orElse(settled)
                .minus(open);
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
        double commands = seen.commands();
        sheet.put("commands", commands / intervals);
        sheet.put("but audits", (commands - sent.audits()) / intervals);
        sheet.put("in scripts", seen.inner() / intervals);
        sheet.put("commits", used.commits() / intervals);
        sheet.put("of a keep-alive", sent.keepAlives() == 0 ? 0 : commands / sent.keepAlives());
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
        List<Column> columns = new ArrayList<>();
        field.counts()
                .forEach(count ->
                        columns.add(new Column(count.title() + " per interval", count.unit(), count.number())));
        columns.addAll(List.of(
                new Column("client CPU", Unit.PERCENT, "client cpu"),
                new Column("server CPU", Unit.PERCENT, "server cpu")));
        return columns;
    }

    @Override
    public List<Figure> figures() {
        return figures;
    }
}
