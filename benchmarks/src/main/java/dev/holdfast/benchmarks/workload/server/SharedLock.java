package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;

/** One hot lock on a server, in one process. */
final class SharedLock {

    private static final int FEW = 2;
    private static final int IN_ORDER = 64;
    private static final List<Integer> THREADS = List.of(FEW, IN_ORDER, 500);

    private SharedLock() {}

    static Workload on(Contestants on) {
        Workload workload = ClientWorkers.workload(
                on, "-hot", "one hot lock in one process", "Threads of one process acquire and release one lock");
        for (int threads : THREADS) {
            Figure pairs = Figure.of(ClientWorkers.id(on.ours(), threads), "pairs", Unit.PER_SECOND, "pairs/s");
            Figure times = ClientWorkers.timesBestPeer(on, threads);
            boolean isCrowded = threads > FEW; // two threads alternate anyway
            (isCrowded ? Contestants.concat(on.all(), on.fairPeers()) : on.all())
                    .forEach(contestant -> workload.cells().add(ClientWorkers.cell(on, contestant, threads, 1)));
            if (threads == IN_ORDER) {
                workload.cells().add(ClientWorkers.cell(on, on.oursFair(), threads, 1));
                workload.show(Figure.of(ClientWorkers.id(on.oursFair(), threads), "pairs", Unit.PER_SECOND, "pairs/s")
                        .atLeast(20_000));
            }
            workload.show(
                    isCrowded ? pairs.atLeast(500_000) : pairs, isCrowded && on.isRedis() ? times.atLeast(100) : times);
        }
        workload.plots().add(ClientWorkers.plot(workload, Contestants.concat(on.all(), on.fairPeers()), THREADS));
        return workload;
    }
}
