package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.LocalPeers;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Gathering;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.HandOverProbe;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Two processes that hand one lock over to each other; and a process that only waits. */
final class HandOver {

    private static final String ID = "hand-off";
    private static final Duration COMMITTING = Duration.ofMillis(500);

    /** How long each holds the lock: longer than a commit, so that the other one is queued again. */
    private static final long HOLD_NANOS = 5_000_000;

    private static final Duration WARM_UP = Duration.ofSeconds(3);

    /** How long the process waits whose processor time is measured, in windows. */
    private static final int WINDOWS = 2;

    private static final String LOCK = "ball";
    private static final String PASSES = "passes";
    private static final String CPU = "cpu";

    private HandOver() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                ID,
                "From process to process",
                String.format(
                        "Two processes pass a fair lock to and fro; each holds it for %d ms, in which the other one"
                                + " queues. *Hand-off* is the time from the release in one process to the return of the"
                                + " acquisition in the other; the median is that of the slower direction. A hand-off"
                                + " contains at least one commit, so what *a commit by hand* takes on that disk, right"
                                + " afterwards, is there for comparison. *CPU while waiting* is the processor time, of"
                                + " one core, of a process that waits for the lock and does nothing else.",
                        TimeUnit.NANOSECONDS.toMillis(HOLD_NANOS)));
        add(Holdfasts.SQLITE_FULL, LocalPeers.BY_HAND_FULL, workload);
        add(Holdfasts.SQLITE_NORMAL, LocalPeers.BY_HAND_NORMAL, workload);
        return workload;
    }

    private static void add(Contestant contestant, Contestant byHand, Workload workload) {
        String cell = contestant.title();
        String player = cell + "-player";
        String waiter = cell + "-waiter";
        workload.part(player, (bench, measurements) -> play(contestant, bench, measurements));
        workload.part(waiter, (bench, measurements) -> await(contestant, bench, measurements));
        workload.cell(cell, (bench, measurements) -> {
            try (Gathering players = Gathering.of(2, ID, player, bench)) {
                measure(players, bench, measurements);
            }
            measurements.put("commit", commitByHand(byHand, bench.after(Duration.ZERO, COMMITTING)));
        });
        workload.cell(cell + "-wait", (bench, measurements) -> {
            try (Contestant.Client client = contestant.connect(bench.place());
                    Gathering waiting = Gathering.of(1, ID, waiter, bench)) {
                hold(client, waiting, bench, measurements);
            }
        });
        workload.show(
                Figure.of(cell, "hand-off, median", Unit.NANOS, "p50").atMost(3e6),
                Figure.of(cell, "a commit by hand, median", Unit.NANOS, "commit"),
                Figure.of(cell, "hand-off, p99", Unit.NANOS, "p99"),
                Figure.of(cell, "hand-offs timed", Unit.COUNT, "hand-offs"),
                Figure.of(cell + "-wait", "CPU while waiting", Unit.PERCENT, CPU)
                        .atMost(0.05));
    }

    // ---- Two processes

    private static void measure(Gathering players, Bench bench, Measurements measurements) throws Exception {
        var unused = players.open(WARM_UP);
        List<Measurements> both = players.measurements();
        for (String number : List.of("p50", "p99", "max")) {
            measurements.put(number, Measurements.all(both, number).max().orElseThrow());
        }
        measurements.put("hand-offs", Measurements.sum(both, "hand-offs"));
        Guarded.inFile(bench.place()).check(Math.round(Measurements.sum(both, PASSES)), measurements);
    }

    private static void play(Contestant contestant, Bench start, Measurements measurements) throws Exception {
        long passes = 0;
        try (Contestant.Client client = contestant.connect(start.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            Bench bench = Gathering.join(start);
            HandOverProbe probe = new HandOverProbe(bench);
            while (System.nanoTime() - bench.end() < 0) {
                probe.enter(mutex.acquire());
                LockSupport.parkNanos(HOLD_NANOS);
                passes++;
                probe.leave();
                mutex.release();
            }
            measurements.putWaits("", probe.handOvers());
            measurements.put("hand-offs", probe.handOvers().getTotalCount());
        }
        measurements.put(PASSES, passes);
    }

    private static double commitByHand(Contestant byHand, Bench bench) throws InterruptedException {
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

    // ---- Waiting

    private static void hold(Contestant.Client client, Gathering waiting, Bench bench, Measurements measurements)
            throws Exception {
        Contestant.Mutex mutex = client.mutex(LOCK);
        var unused = mutex.acquire();
        waiting.open(WARM_UP).awaitBegin();
        TimeUnit.NANOSECONDS.sleep(WINDOWS * bench.time().toNanos());
        mutex.release();
        measurements.put(CPU, waiting.measurements().get(0).get(CPU));
    }

    private static void await(Contestant contestant, Bench start, Measurements measurements) throws Exception {
        try (Contestant.Client client = contestant.connect(start.place())) {
            Contestant.Mutex mutex = client.mutex(LOCK);
            Gathering.join(start).awaitBegin();
            long begin = System.nanoTime();
            long used = Processors.ofThisProcess();
            var unused = mutex.acquire();
            measurements.put(CPU, (double) (Processors.ofThisProcess() - used) / (System.nanoTime() - begin));
            mutex.release();
        }
    }
}
