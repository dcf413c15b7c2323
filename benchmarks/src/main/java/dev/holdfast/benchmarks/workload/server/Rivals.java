package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Passing;
import dev.holdfast.benchmarks.harness.Pinger;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.Usage;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Launcher;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** One hot lock on a server, in several processes. */
public final class Rivals implements Workload {

    private static final int PROCESSES = 4;
    private static final int THREADS = 4;

    /** Before that the compilers of so many programs take more of two processors than all that is measured. */
    private static final Duration WARM_UP = Duration.ofSeconds(40);

    /** There are few hand-overs between processes, in which too little would be compiled. */
    private static final Duration PREPARATION = Duration.ofSeconds(2);

    /** The same for hand-overs from client to client: four programs have two processors to compile them. */
    private static final Duration PREPARATION_OF_HAND_OVERS = Duration.ofSeconds(10);

    /** How long before the window the server's doings are sampled. */
    private static final Duration SAMPLE = Duration.ofMillis(300);

    private static final String PASSES = "passes";
    private static final String PINGS = "pings";
    private static final String CPU = "cpu";
    private static final List<String> OF_PROCESSES = List.of("hand-off p50", "hand-off p99", "ping p50", "ping p99");

    private final Field field;
    private final Launcher launcher;
    private final Goals goals;

    /** What is to be reached; made from the titles of cells. */
    private interface Goals {
        List<Figure> of(Field field);
    }

    private Rivals(Field field, Launcher launcher, Goals goals) {
        this.field = field;
        this.launcher = launcher;
        this.goals = goals;
    }

    public static Rivals onRedis(Launcher launcher) {
        return new Rivals(Field.REDIS, launcher, field -> {
            String fair = field.oursFair().title();
            List<Figure> figures = new ArrayList<>(ofTurns(field));
            figures.add(Stage.times(fair, "the best fair peer", titles(field.fairPeers()))
                    .atLeast(4));
            figures.add(Stage.times(fair, "raw", List.of(field.raw().title())).atLeast(0.8));
            figures.add(timesPing(fair, "p50").atMost(2));
            figures.add(timesPing(fair, "p99").atMost(3));
            return figures;
        });
    }

    public static Rivals onPostgresql(Launcher launcher) {
        return new Rivals(Field.POSTGRESQL, launcher, field -> {
            String fair = field.oursFair().title();
            List<Figure> figures = onSql(field);
            figures.add(timesPing(fair, "p50").atMost(3));
            figures.add(timesPing(fair, "p99"));
            return figures;
        });
    }

    public static Rivals onMariaDb(Launcher launcher) {
        return new Rivals(Field.MARIADB, launcher, field -> {
            String fair = field.oursFair().title();
            List<Figure> figures = onSql(field);
            figures.add(
                    Figure.of(fair, "hand-off p50", Unit.NANOS, "hand-off p50").atMost(10e6));
            figures.add(timesPing(fair, "p50"));
            return figures;
        });
    }

    /** On a server where each write is one of a quorum, and so is a ping. */
    public static Rivals onRegister(Field registers, Launcher launcher) {
        return new Rivals(registers, launcher, field -> {
            String ours = field.ours().title();
            String fair = field.oursFair().title();
            return List.of(
                    Stage.times(ours, "the best peer", titles(field.peers())).atLeast(20),
                    Figure.of(ours, "spread", Unit.TIMES, "spread").atMost(1.2),
                    Figure.of(ours, "p99 wait", Unit.NANOS, "p99").atMost(200e6),
                    Stage.times(fair, "the best peer", titles(field.peers())).atLeast(1.5),
                    timesPing(fair, "p50").atMost(2),
                    timesPing(fair, "p99"));
        });
    }

    private static List<Figure> onSql(Field field) {
        String fair = field.oursFair().title();
        List<Figure> figures = new ArrayList<>(ofTurns(field));
        for (Contestant own : field.serversOwn()) {
            figures.add(Stage.times(field.ours().title(), own.title(), List.of(own.title()))
                    .atLeast(1));
        }
        figures.add(Stage.times(fair, "the best peer", titles(field.peers())).atLeast(3));
        return figures;
    }

    /** As it comes. */
    private static List<Figure> ofTurns(Field field) {
        String ours = field.ours().title();
        return List.of(
                Stage.times(ours, "the best peer", titles(field.peers())).atLeast(10),
                Figure.of(ours, "spread", Unit.TIMES, "spread").atMost(1.2),
                Figure.of(ours, "p99 wait", Unit.NANOS, "p99").atMost(100e6));
    }

    @Override
    public String id() {
        return field.name() + "-processes";
    }

    @Override
    public String title() {
        return field.title() + ", one hot lock in several processes";
    }

    @Override
    public String method() {
        return String.format(
                "%d processes with %d threads each acquire and release one lock without a break; `%s` serves"
                        + " in strict order over all of them. *Spread* is what the fastest process did, divided by what"
                        + " the slowest did. *Changes* is which part of the acquisitions came from another process, and"
                        + " *hand-off* the time from the end of what is protected in one process to its begin in the"
                        + " other, by the clock that both share. *Ping* is the time of %s that a further thread of each"
                        + " process sends through the same driver each hundredth of a second meanwhile. Waits are those"
                        + " of the process in which they are longest, hand-offs and pings are on average over the"
                        + " processes. Before they meet, the threads of all processes use a lock of their own for %d s,"
                        + " and those of each process pass a lock around between two clients for %d s, for what is hot"
                        + " to be compiled; the window opens %d s after that.",
                PROCESSES,
                THREADS,
                field.oursFair().title(),
                field.texts().ping(),
                PREPARATION.toSeconds(),
                PREPARATION_OF_HAND_OVERS.toSeconds(),
                WARM_UP.toSeconds());
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    private List<Contestant> contestants() {
        List<Contestant> contestants = new ArrayList<>(field.all());
        contestants.addAll(field.fair());
        return contestants;
    }

    @Override
    public List<Cell> cells() {
        return contestants().stream()
                .map(contestant -> new Cell(
                        contestant.title(), contestant.isPeer(), (bench, sheet) -> fight(contestant, bench, sheet)))
                .toList();
    }

    @Override
    public List<Cell> parts() {
        return contestants().stream()
                .map(contestant -> new Cell(part(contestant), (bench, sheet) -> takePart(contestant, bench, sheet)))
                .toList();
    }

    private static String part(Contestant contestant) {
        return contestant.title() + "-process";
    }

    private static void takePart(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        try (Contestant.Client client = contestant.connect(bench.place())) {
            prepare(contestant, client, bench);
            Bench common = Gathering.join(bench);
            Passing passing = new Passing(Guarded.inFile(bench.place()), common);
            Optional<Pinger> pinger = Pinger.start(common, client);
            Crew.Tally tally = Stage.work(
                    contestant,
                    common,
                    bench.scaledOverOne(THREADS),
                    Crew.Watch.NONE,
                    unused -> new Crew.Post(client.mutex("hot"), passing),
                    sheet);
            sheet.put(PASSES, tally.passes());
            sheet.put(CPU, tally.cpuNanos());
            passing.show(sheet);
            sheet.put(PINGS, pinger.isPresent() ? pinger.get().show(sheet) : 0);
        }
    }

    private static void prepare(Contestant contestant, Contestant.Client client, Bench bench) throws Exception {
        String own = "own-" + ProcessHandle.current().pid();
        prepare(PREPARATION, bench, i -> new Crew.Post(client.mutex(own + "-" + i), Guarded.inMemory()));
        try (Contestant.Client other = contestant.connect(bench.place())) {
            Guarded guarded = Guarded.inMemory();
            prepare(
                    PREPARATION_OF_HAND_OVERS,
                    bench,
                    i -> new Crew.Post((i % 2 == 0 ? client : other).mutex(own), guarded));
        }
    }

    private static void prepare(Duration time, Bench bench, IntFunction<Crew.Post> posts) throws Exception {
        var unused = Crew.run(
                bench.now(bench.scaled(time)),
                bench.scaledOverOne(THREADS),
                Crew.Watch.NONE,
                Crew.patienceWithPeers(bench),
                posts);
    }

    private void fight(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inFile(bench.place());
        List<Sheet> sheets;
        try (Usage usage = new Usage(field.server(), bench);
                Gathering processes = Gathering.of(
                        bench.scaledOverOne(PROCESSES),
                        bench,
                        () -> launcher.start(this, cell(part(contestant)), bench))) {
            Bench later = processes.open(WARM_UP);
            later.awaitShortlyBefore(bench.scaled(SAMPLE));
            usage.sample();
            later.awaitBegin();
            usage.begin();
            later.awaitEnd();
            usage.read();
            sheets = processes.sheets();
            double pairs = sum(sheets, "pairs/s") * later.time().toNanos() / 1e9;
            usage.show(Math.round(pairs), sum(sheets, PINGS), sheet);
            if (pairs > 0) {
                sheet.put("client cpu", sum(sheets, CPU) / pairs);
            }
        }
        show(sheets, sheet);
        guarded.check(Math.round(sum(sheets, PASSES)), sheet);
    }

    private static void show(List<Sheet> sheets, Sheet sheet) {
        sheets.forEach(one -> one.remarks().forEach(sheet::remark));
        sheet.put("pairs/s", sum(sheets, "pairs/s"));
        sheet.put(
                "spread",
                Sheet.all(sheets, "pairs/s").max().orElse(0)
                        / Sheet.all(sheets, "pairs/s").min().orElse(0));
        sheet.put("changes", sum(sheets, "changes") / Math.max(1, sum(sheets, "entered")));
        for (String number : List.of("p50", "p99", "p99.9", "max")) {
            sheet.put(number, Sheet.all(sheets, number).max().orElse(0));
        }
        for (String number : OF_PROCESSES) {
            if (sheets.get(0).has(number)) {
                sheet.put(number, Sheet.all(sheets, number).average().orElse(0));
            }
        }
    }

    private static double sum(List<Sheet> sheets, String number) {
        return Sheet.all(sheets, number).sum();
    }

    @Override
    public List<Column> columns() {
        List<Column> columns = new ArrayList<>(List.of(
                new Column("pairs", Unit.PER_SECOND, "pairs/s"),
                new Column("spread", Unit.TIMES, "spread"),
                new Column("changes", Unit.PERCENT, "changes"),
                new Column("hand-off p50", Unit.NANOS, "hand-off p50"),
                new Column("p99", Unit.NANOS, "hand-off p99"),
                new Column("ping p50", Unit.NANOS, "ping p50"),
                new Column("p99", Unit.NANOS, "ping p99"),
                new Column("p50 wait", Unit.NANOS, "p50"),
                new Column("p99 wait", Unit.NANOS, "p99"),
                new Column("longest", Unit.NANOS, "max")));
        columns.addAll(field.counts());
        columns.addAll(List.of(
                new Column("server CPU", Unit.NANOS, "server cpu"),
                new Column("client CPU", Unit.NANOS, "client cpu")));
        return columns;
    }

    @Override
    public List<Figure> figures() {
        return goals.of(field);
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
}
