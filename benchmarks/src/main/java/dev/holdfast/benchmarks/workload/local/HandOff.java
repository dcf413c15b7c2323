package dev.holdfast.benchmarks.workload.local;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.ByHand;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Launcher;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** Two processes that pass one lock to and fro; and one that only waits. */
public final class HandOff implements Workload {

    /** Who plays, and what commits as it does. */
    private record Side(Contestant contestant, ByHand byHand) {
        String title() {
            return contestant.title();
        }
    }

    private static final List<Side> SIDES =
            List.of(new Side(Holdfasts.SQLITE_FULL, ByHand.FULL), new Side(Holdfasts.SQLITE_NORMAL, ByHand.NORMAL));

    private static final int PLAYERS = 2;
    private static final Duration COMMITTING = Duration.ofMillis(500);

    /** How long each holds the lock: longer than a commit, so that the other one is queued again. */
    private static final long HOLD_NANOS = 5_000_000;

    private static final Duration WARM_UP = Duration.ofSeconds(3);

    /** The wait of the process whose processor time is measured, in windows. */
    private static final int WINDOWS = 2;

    /** In the place of a process number: who had the lock before anyone had it. */
    private static final long NOBODY = 0;

    private static final String LOCK = "ball";
    private static final String PASSES = "passes";

    private final Launcher launcher;

    public HandOff(Launcher launcher) {
        this.launcher = launcher;
    }

    @Override
    public String id() {
        return "hand-off";
    }

    @Override
    public String title() {
        return "From process to process";
    }

    @Override
    public String method() {
        return String.format(
                "Two processes pass a fair lock to and fro; each holds it for %d ms, in which the other one"
                        + " queues. *Hand-off* is the time from the call of the release in one process to the return of"
                        + " the acquisition in the other, by the system's monotonic clock, which both share; the median"
                        + " is that of the slower direction. A hand-off contains at least one commit, so what *a commit"
                        + " by hand* takes on that disk, right afterwards, is there beside it. *CPU while waiting* is"
                        + " the processor time of a process that waits for the lock and does nothing else, of one"
                        + " core.",
                TimeUnit.NANOSECONDS.toMillis(HOLD_NANOS));
    }

    @Override
    public List<Cell> cells() {
        return SIDES.stream()
                .flatMap(side -> Stream.of(
                        new Cell(side.title(), (bench, sheet) -> pass(side, bench, sheet)),
                        new Cell(side.title() + "-wait", (bench, sheet) -> hold(side.contestant(), bench, sheet))))
                .toList();
    }

    @Override
    public List<Cell> parts() {
        return SIDES.stream()
                .flatMap(side -> Stream.of(
                        new Cell(player(side.contestant()), (bench, sheet) -> play(side.contestant(), bench, sheet)),
                        new Cell(waiter(side.contestant()), (bench, sheet) -> await(side.contestant(), bench, sheet))))
                .toList();
    }

    private static String player(Contestant contestant) {
        return contestant.title() + "-player";
    }

    private static String waiter(Contestant contestant) {
        return contestant.title() + "-waiter";
    }

    // ---- To and fro

    private void pass(Side side, Bench bench, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inFile(bench.place());
        Cell player = cell(player(side.contestant()));
        long passes = 0;
        try (Gathering players = Gathering.of(PLAYERS, bench, () -> launcher.start(this, player, bench))) {
            var unused = players.open(WARM_UP);
            List<Sheet> sheets = players.sheets();
            for (String number : List.of("p50", "p99", "max")) {
                sheet.put(number, Sheet.all(sheets, number).max().orElseThrow());
            }
            sheet.put("hand-offs", Sheet.all(sheets, "hand-offs").sum());
            passes = Math.round(Sheet.all(sheets, PASSES).sum());
        }
        guarded.check(passes, sheet);
        sheet.put("commit", commitByHand(side.byHand(), bench.now(COMMITTING)));
    }

    private static double commitByHand(ByHand byHand, Bench bench) throws InterruptedException {
        Histogram pairs = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
        try (Contestant.Client client = byHand.connect(bench.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            do {
                long begin = System.nanoTime();
                var unused = mutex.acquire();
                mutex.release();
                pairs.recordValue(System.nanoTime() - begin);
            } while (System.nanoTime() - bench.end() < 0);
        }
        return pairs.getValueAtPercentile(50) / 2.0;
    }

    private static void play(Contestant contestant, Bench start, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inFile(start.place());
        Histogram handOffs = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
        long self = ProcessHandle.current().pid();
        long passes = 0;
        try (Contestant.Client client = contestant.connect(start.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            Bench bench = Gathering.join(start);
            while (System.nanoTime() - bench.end() < 0) {
                long token = mutex.acquire();
                long now = System.nanoTime();
                guarded.enter(token);
                long before = guarded.lastOwner();
                if (now - bench.begin() > 0 && before != self && before != NOBODY) {
                    handOffs.recordValue(now - guarded.leftAt());
                }
                LockSupport.parkNanos(HOLD_NANOS);
                passes++;
                guarded.leave(self);
                mutex.release();
            }
        }
        sheet.put("p50", handOffs.getValueAtPercentile(50));
        sheet.put("p99", handOffs.getValueAtPercentile(99));
        sheet.put("max", handOffs.getMaxValue());
        sheet.put("hand-offs", handOffs.getTotalCount());
        sheet.put(PASSES, passes);
    }

    // ---- Waiting

    private void hold(Contestant contestant, Bench bench, Sheet sheet) throws Exception {
        try (Contestant.Client client = contestant.connect(bench.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            var unused = mutex.acquire();
            Cell part = cell(waiter(contestant));
            try (Gathering waiter = Gathering.of(1, bench, () -> launcher.start(this, part, bench))) {
                waiter.open(WARM_UP).awaitBegin();
                TimeUnit.NANOSECONDS.sleep(WINDOWS * bench.time().toNanos());
                mutex.release();
                sheet.put("cpu", waiter.sheets().get(0).get("cpu"));
            }
        }
    }

    private static void await(Contestant contestant, Bench start, Sheet sheet)
            throws IOException, InterruptedException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (Contestant.Client client = contestant.connect(start.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            Gathering.join(start).awaitBegin();
            long begin = System.nanoTime();
            long used = system.getProcessCpuTime();
            var unused = mutex.acquire();
            sheet.put("cpu", (double) (system.getProcessCpuTime() - used) / (System.nanoTime() - begin));
            mutex.release();
        }
    }

    @Override
    public List<Figure> figures() {
        return SIDES.stream()
                .map(Side::title)
                .flatMap(cell -> Stream.of(
                        Figure.of(cell, "hand-off, median", Unit.NANOS, "p50").atMost(3e6),
                        Figure.of(cell, "a commit by hand, median", Unit.NANOS, "commit"),
                        Figure.of(cell, "hand-off, p99", Unit.NANOS, "p99"),
                        Figure.of(cell, "hand-offs timed", Unit.COUNT, "hand-offs"),
                        Figure.of(cell + "-wait", "CPU while waiting", Unit.PERCENT, "cpu")
                                .atMost(0.05)))
                .toList();
    }
}
