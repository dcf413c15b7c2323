package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.harness.Quota;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Launcher;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a fresh JVM pays for connecting, for its first lock and for the first thousands; also with half a processor. */
public final class Cold {

    /** A part of a run that is timed: the opening from the start, everything else from the end of the opening. */
    private enum Part {
        OPENING("opening", 0),
        FIRST("first pair", 1),
        FEW("1,000 pairs", 1_000),
        MANY("20,000 pairs", Workers.FIRST_PAIRS);

        final String title;
        final int pairs;

        Part(String title, int pairs) {
            this.title = title;
            this.pairs = pairs;
        }

        String cpu() {
            return title + ", CPU";
        }
    }

    private static final int NAMES = 1_000;

    /** At a hundred pairs per second. */
    private static final Duration LONGEST = Duration.ofMinutes(4);

    private static final String METHOD =
            "A fresh JVM opens a client, and one thread acquires and releases locks under " + NAMES
                    + " names in turn, without any warm-up. All times but that of opening count from its end; *CPU* is"
                    + " the processor time of the process, its compiler included. ";

    private Cold() {}

    /**
     * Measures fresh JVMs.
     *
     * @param opening the goal for the processor time of opening, divided by that of the driver alone
     */
    public static Workload on(Contestants on, double opening) {
        List<Figure> figures = new ArrayList<>();
        figures.add(times(on, Part.OPENING.cpu(), "raw", on.raw()).atMost(opening));
        for (Contestant peer : on.peers()) {
            for (Part part : List.of(Part.FEW, Part.MANY)) {
                figures.add(times(on, part.title, peer.title(), peer).atMost(1.1));
                figures.add(times(on, part.cpu(), peer.title(), peer).atMost(1));
            }
        }
        return new Workload(
                on.name() + "-cold",
                on.title() + ", from the start of a JVM",
                METHOD + on.texts().settings(),
                Optional.of(on.server()),
                on.withoutServersOwn().stream()
                        .map(contestant -> Cell.of(
                                        contestant,
                                        contestant.title(),
                                        (bench, measurements) -> measure(contestant, 0, bench, measurements))
                                .withPreparation(LONGEST))
                        .toList(),
                List.of(),
                columns(),
                figures);
    }

    /** The same, and the steady throughput after it, in a JVM with half a processor. */
    public static Workload withQuota(Contestants on, Launcher launcher) {
        String id = on.name() + "-quota";
        List<Workload.Column> columns = columns();
        columns.add(ClientWorkers.PAIRS);
        List<Cell> cells = new ArrayList<>();
        List<Cell> parts = new ArrayList<>();
        for (Contestant contestant : on.withoutServersOwn()) {
            String process = contestant.title() + "-process";
            parts.add(new Cell(
                    process,
                    (bench, measurements) -> measure(contestant, bench.time().toNanos(), bench, measurements)));
            cells.add(Cell.of(contestant, contestant.title(), (bench, measurements) -> {
                        try (Quota quota = Quota.create();
                                var jvm = launcher.start(quota.prefix(), id, process, bench)) {
                            measurements.read(jvm.measurements().lines());
                            measurements.remark(quota.description());
                        }
                    })
                    .withPreparation(LONGEST.multipliedBy(2)));
        }
        return new Workload(
                id,
                on.title() + ", with half a processor",
                METHOD + "Then that thread continues for one window, whose throughput is *pairs*. The JVM has half a"
                        + " processor: it runs in a control group where one can be created, and is pinned to one"
                        + " processor next to a busy thread elsewhere; the remarks below the tables say which. "
                        + on.texts().settings(),
                Optional.of(on.server()),
                cells,
                parts,
                columns,
                List.of(
                        ClientWorkers.times(
                                on.ours().title(), "raw", List.of(on.raw().title())),
                        times(on, Part.MANY.cpu(), "raw", on.raw())));
    }

    private static List<Workload.Column> columns() {
        List<Workload.Column> columns = new ArrayList<>();
        for (Part part : Part.values()) {
            columns.add(new Workload.Column(part.title, Unit.NANOS, part.title));
            columns.add(new Workload.Column("CPU", Unit.NANOS, part.cpu()));
        }
        return columns;
    }

    private static Figure times(Contestants on, String number, String label, Contestant other) {
        String ours = on.ours().title();
        return Figure.ratio(
                ours, number + ", × " + label, new Figure.Term(ours, number), new Figure.Term(other.title(), number));
    }

    /** @param steadyNanos how long the thread continues after the last part */
    private static void measure(Contestant contestant, long steadyNanos, Bench bench, Measurements measurements)
            throws Exception {
        Clock clock = Clock.now();
        try (Contestant.Client client = contestant.connect(bench.place())) {
            clock.put(Part.OPENING, measurements);
            clock = Clock.now();
            Pairs pairs = new Pairs(client);
            for (Part part : List.of(Part.FIRST, Part.FEW, Part.MANY)) {
                while (pairs.count < bench.scaled(part.pairs)) {
                    pairs.next();
                }
                clock.put(part, measurements);
            }
            if (steadyNanos > 0) {
                long before = pairs.count;
                long begin = System.nanoTime();
                do {
                    pairs.next();
                } while (System.nanoTime() - begin < steadyNanos);
                measurements.put("pairs/s", (pairs.count - before) * 1e9 / (System.nanoTime() - begin));
            }
        }
    }

    /** Pairs of one thread under {@link #NAMES} names in turn. */
    private static final class Pairs {
        private final Contestant.Client client;
        private final List<Contestant.Mutex> mutexes = new ArrayList<>();
        private long count;

        Pairs(Contestant.Client client) {
            this.client = client;
        }

        void next() throws InterruptedException {
            int name = (int) (count++ % NAMES);
            if (name == mutexes.size()) {
                mutexes.add(client.mutex("name-" + name));
            }
            Contestant.Mutex mutex = mutexes.get(name);
            var unused = mutex.acquire();
            mutex.release();
        }
    }

    /** When a part began. */
    private record Clock(long time, long cpu) {

        static Clock now() {
            return new Clock(System.nanoTime(), Processors.ofThisProcess());
        }

        void put(Part part, Measurements measurements) {
            Clock end = now();
            measurements.put(part.title, end.time - time);
            measurements.put(part.cpu(), end.cpu - cpu);
        }
    }
}
