package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.EachOnce;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Locks on names that are used once, such as one for each order: everything that a server keeps for a lock is new. */
final class NewNames {

    private static final int MANY = 64;
    private static final int MILLION = 1_000_000;

    /** At a thousand names per second. */
    private static final Duration TIME_FOR_A_MILLION = Duration.ofSeconds(1_000);

    private NewNames() {}

    static Workload on(Contestants on) {
        String afterMillion = on.ours().title() + "-after-a-million";
        Workload workload = ClientWorkers.workload(
                on,
                "-new",
                "names that are used once",
                String.format(
                        Locale.ROOT,
                        "In `%s` one thread measures after %d threads have used %,d names once each, which are still"
                                + " stored then; *a million* is how quick that was. Threads of one process acquire and"
                                + " release a lock under another name each time",
                        afterMillion,
                        MANY,
                        MILLION));
        double timesRaw = on.goal(0.8, 0.7, 0.85);
        double ofRegister = on.server() == Servers.Kind.ETCD ? 0.95 : 3;
        for (int threads : List.of(1, MANY)) {
            for (Contestant contestant : on.withoutServersOwn()) {
                workload.cells()
                        .add(Cell.of(
                                contestant,
                                ClientWorkers.id(contestant, threads),
                                (bench, measurements) ->
                                        measure(on, contestant, bench.scaledOverOne(threads), 0, bench, measurements)));
            }
            workload.show(
                    ClientWorkers.timesRaw(on, threads).atLeast(timesRaw),
                    ClientWorkers.timesBestPeer(on, threads).atLeast(on.goal(1.5, 1.5, ofRegister)));
        }
        workload.cells()
                .add(new Cell(
                                afterMillion,
                                (bench, measurements) ->
                                        measure(on, on.ours(), 1, bench.scaled(MILLION), bench, measurements))
                        .withPreparation(TIME_FOR_A_MILLION));
        workload.show(
                ClientWorkers.times(afterMillion, "raw, without these names", List.of(ClientWorkers.id(on.raw(), 1)))
                        .atLeast(timesRaw),
                Figure.of(afterMillion, "names a second, for a million", Unit.PER_SECOND, "million"));
        // A keep-alive may fall into the window, and belongs to no pair.
        if (on.isSql()) {
            workload.show(ClientWorkers.cost(on, "statements of a pair", "commands", 3.05));
        }
        if (!on.isRedis()) {
            workload.show(ClientWorkers.cost(on, (on.isSql() ? "commits" : "writes") + " of a pair", "commits", 2.05));
        }
        return workload;
    }

    /** @param before how many names are used before the threads start */
    private static void measure(
            Contestants on, Contestant contestant, int threads, int before, Bench bench, Measurements measurements)
            throws Exception {
        try (Contestant.Client client = contestant.connect(bench.place())) {
            AtomicLong names = new AtomicLong();
            if (before > 0) {
                measurements.put("million", useNames(client, names, before));
            }
            ClientWorkers.measure(
                    on, contestant, threads, threads, i -> new EachOnce(client, names), bench, measurements);
        }
    }

    /** Uses names once each, and returns how many per second. */
    private static double useNames(Contestant.Client client, AtomicLong names, int count) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(MANY);
        long begin = System.nanoTime();
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                EachOnce lock = new EachOnce(client, names);
                ends.add(threads.submit(() -> {
                    while (names.get() < count) {
                        var unused = lock.acquire();
                        lock.release();
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                var unused = end.get(1, TimeUnit.HOURS);
            }
        } finally {
            threads.shutdownNow();
        }
        return names.get() * 1e9 / (System.nanoTime() - begin);
    }
}
