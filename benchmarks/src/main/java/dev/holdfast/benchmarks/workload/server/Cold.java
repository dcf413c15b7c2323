package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a fresh JVM pays for connecting, for its first lock and for the first thousands. */
public final class Cold implements Workload {

    /** A part of a run that is timed, from the end of opening but for the opening itself. */
    private enum Part {
        OPENING("opening", 0),
        FIRST("first pair", 1),
        FEW("1,000 pairs", 1_000),
        MANY("20,000 pairs", 20_000);

        final String title;
        final int pairs;

        Part(String title, int pairs) {
            this.title = title;
            this.pairs = pairs;
        }

        String elapsed() {
            return title;
        }

        String cpu() {
            return title + ", CPU";
        }
    }

    private static final int NAMES = 1_000;

    /** At a hundred pairs a second. */
    private static final Duration LONGEST = Duration.ofMinutes(4);

    private final Field field;
    private final double opening;

    /** @param opening how many times the processor time of the driver alone opening may take */
    public Cold(Field field, double opening) {
        this.field = field;
        this.opening = opening;
    }

    @Override
    public String id() {
        return field.name() + "-cold";
    }

    @Override
    public String title() {
        return field.title() + ", from the start of a JVM";
    }

    @Override
    public String method() {
        return "A fresh JVM opens a client, and one thread acquires and releases locks under " + NAMES
                + " names in turn, without any warm-up. All times but that of opening count from its end; *CPU* is the"
                + " processor time of the process, its compiler included. "
                + field.texts().settings();
    }

    @Override
    public Optional<Servers.Kind> server() {
        return Optional.of(field.server());
    }

    @Override
    public List<Cell> cells() {
        List<Contestant> contestants = new ArrayList<>(List.of(field.raw(), field.ours()));
        contestants.addAll(field.peers());
        return contestants.stream()
                .map(contestant -> new Cell(
                        contestant.title(),
                        contestant.isPeer(),
                        LONGEST,
                        (bench, sheet) -> measure(contestant, bench, sheet)))
                .toList();
    }

    private static void measure(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        Clock clock = Clock.now();
        try (Contestant.Client client = contestant.connect(bench.place())) {
            clock.put(Part.OPENING, sheet);
            clock = Clock.now();
            Contestant.Mutex[] mutexes = new Contestant.Mutex[NAMES];
            int pairs = 0;
            for (Part part : List.of(Part.FIRST, Part.FEW, Part.MANY)) {
                for (int most = bench.scaled(part.pairs); pairs < most; pairs++) {
                    int name = pairs % NAMES;
                    if (mutexes[name] == null) {
                        mutexes[name] = client.mutex("name-" + name);
                    }
                    var unused = mutexes[name].acquire();
                    mutexes[name].release();
                }
                clock.put(part, sheet);
            }
        }
    }

    /** When a part began. */
    private record Clock(long time, long cpu) {

        static Clock now() {
            return new Clock(System.nanoTime(), Processors.ofThisProcess());
        }

        void put(Part part, Sheet sheet) {
            Clock end = now();
            sheet.put(part.elapsed(), end.time - time);
            sheet.put(part.cpu(), end.cpu - cpu);
        }
    }

    @Override
    public List<Column> columns() {
        List<Column> columns = new ArrayList<>();
        for (Part part : Part.values()) {
            columns.add(new Column(part.title, Unit.NANOS, part.elapsed()));
            columns.add(new Column("CPU", Unit.NANOS, part.cpu()));
        }
        return columns;
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        figures.add(times(Part.OPENING.cpu(), "raw", field.raw()).atMost(opening));
        for (Contestant peer : field.peers()) {
            for (Part part : List.of(Part.FEW, Part.MANY)) {
                figures.add(times(part.elapsed(), peer.title(), peer).atMost(1.1));
                figures.add(times(part.cpu(), peer.title(), peer).atMost(1));
            }
        }
        return figures;
    }

    private Figure times(String number, String what, Contestant other) {
        String ours = field.ours().title();
        return Figure.ratio(
                ours, number + ", × " + what, new Figure.Term(ours, number), new Figure.Term(other.title(), number));
    }
}
