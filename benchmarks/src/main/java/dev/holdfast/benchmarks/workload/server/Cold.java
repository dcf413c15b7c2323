package dev.holdfast.benchmarks.workload.server;

import static dev.holdfast.benchmarks.workload.Unit.NANOS;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.harness.Quota;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a fresh JVM pays for connecting, for its first lock and for the first thousands; also with half a processor. */
final class Cold {

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

        String fromStart() {
            return title + ", from the start";
        }
    }

    private static final List<Part> AFTER_OPENING = List.of(Part.FIRST, Part.FEW, Part.MANY);

    private static final int NAMES = 1_000;

    /** At a hundred pairs per second. */
    private static final Duration LONGEST = Duration.ofMinutes(4);

    private static final String METHOD = "A fresh JVM opens a client, and one thread acquires and releases locks under "
            + NAMES + " names in turn, without any warm-up. All times but that of opening count from its end; *CPU* is"
            + " the processor time of the process, its compiler included.";

    private Cold() {}

    /** Measures fresh JVMs. */
    static Workload on(Contestants on) {
        Workload workload = workload(on, "-cold", "from the start of a JVM", METHOD);
        Plot plot = new Plot(
                workload.id(), on.server().title() + ", a fresh JVM", "pairs made", true, "time from the start", NANOS);
        for (Contestant contestant : on.withoutServersOwn()) {
            String cell = contestant.title();
            workload.cells()
                    .add(Cell.of(contestant, cell, (bench, measurements) -> measure(contestant, 0, bench, measurements))
                            .withPreparation(LONGEST));
            plot.lines()
                    .add(new Plot.Line(
                            cell,
                            AFTER_OPENING.stream()
                                    .map(part -> new Plot.Point(part.pairs, new Figure.Term(cell, part.fromStart())))
                                    .toList()));
        }
        workload.plots().add(plot);
        workload.show(times(on, Part.OPENING.cpu(), "raw", on.raw()).atMost(on.goal(1, 1.2, 1.2)));
        for (Contestant peer : on.peers()) {
            for (Part part : List.of(Part.FEW, Part.MANY)) {
                workload.show(
                        times(on, part.title, peer.title(), peer).atMost(1.1),
                        times(on, part.cpu(), peer.title(), peer).atMost(1));
            }
        }
        return workload;
    }

    /** The same, and the steady throughput after it, in a JVM with half a processor. */
    static Workload withQuota(Contestants on) {
        Workload workload = workload(
                on,
                "-quota",
                "with half a processor",
                METHOD + " Then that thread continues for one window, whose throughput is *pairs*. The JVM has half a"
                        + " processor: it runs in a control group where one can be created, and is pinned to one"
                        + " processor next to a busy thread elsewhere; the remarks below the tables say which.");
        workload.column("pairs", Unit.PER_SECOND, "pairs/s");
        for (Contestant contestant : on.withoutServersOwn()) {
            String process = contestant.title() + "-process";
            workload.part(
                    process,
                    (bench, measurements) -> measure(contestant, bench.time().toNanos(), bench, measurements));
            workload.cells()
                    .add(Cell.of(contestant, contestant.title(), (bench, measurements) -> {
                                try (Quota quota = Quota.create();
                                        Jvm jvm = Jvm.ofPart(quota.prefix(), workload.id(), process, bench)) {
                                    measurements.read(jvm.measurements().lines());
                                    measurements.remark(quota.description());
                                }
                            })
                            .withPreparation(LONGEST.multipliedBy(2)));
        }
        workload.show(
                ClientWorkers.times(on.ours().title(), "raw", List.of(on.raw().title())),
                times(on, Part.MANY.cpu(), "raw", on.raw()));
        return workload;
    }

    private static Workload workload(Contestants on, String suffix, String title, String method) {
        Workload workload = on.workload(suffix, title, method);
        for (Part part : Part.values()) {
            workload.column(part.title, NANOS, part.title);
            workload.column("CPU", NANOS, part.cpu());
        }
        return workload;
    }

    private static Figure times(Contestants on, String number, String label, Contestant other) {
        String ours = on.ours().title();
        return Figure.ratio(
                ours, number + ", × " + label, new Figure.Term(ours, number), new Figure.Term(other.title(), number));
    }

    /** @param steadyNanos how long the thread continues after the last part */
    private static void measure(Contestant contestant, long steadyNanos, Bench bench, Measurements measurements)
            throws Exception {
        Clock start = Clock.now();
        Clock clock = start;
        try (Contestant.Client client = contestant.connect(bench.place())) {
            clock.put(Part.OPENING, measurements);
            clock = Clock.now();
            Pairs pairs = new Pairs(client);
            for (Part part : AFTER_OPENING) {
                while (pairs.count < bench.scaled(part.pairs)) {
                    pairs.next();
                }
                clock.put(part, measurements);
                measurements.put(part.fromStart(), System.nanoTime() - start.time());
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
