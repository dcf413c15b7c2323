package dev.holdfast.benchmarks.workload.server;

import static dev.holdfast.benchmarks.workload.server.ClientWorkers.timesBestPeer;
import static dev.holdfast.benchmarks.workload.server.ClientWorkers.timesRaw;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;

/** Locks without contention on a server: one thread, and many threads with a lock each. */
final class OwnLocks {

    private static final List<Integer> THREADS = List.of(1, 64, 500);

    private OwnLocks() {}

    static Workload on(Contestants on) {
        Workload workload = ClientWorkers.workload(
                on, "-own", "without contention", "Threads of one process acquire and release a lock each");
        for (int threads : THREADS) {
            // Without contention a fair lock does the same and more, so one cell of each is enough.
            (threads == 1 ? Contestants.concat(on.all(), on.fairPeers()) : on.all())
                    .forEach(contestant -> workload.cells().add(ClientWorkers.cell(on, contestant, threads, threads)));
            goals(on, workload, threads);
        }
        // A keep-alive may fall into the window, and belongs to no pair.
        if (on.isSql()) {
            workload.show(ClientWorkers.cost(on, "statements of a pair", "commands", 2.05));
        } else if (!on.isRedis()) {
            workload.show(ClientWorkers.cost(on, "writes of a pair", "commits", 2.05));
        }
        workload.plots().add(ClientWorkers.plot(workload, on.all(), THREADS));
        return workload;
    }

    private static void goals(Contestants on, Workload workload, int threads) {
        if (threads == 1) {
            double ofRegister = on.server() == Servers.Kind.ETCD ? 0.95 : 3;
            workload.show(
                    timesRaw(on, 1).atLeast(on.goal(0.8, 0.85, 0.85)),
                    timesBestPeer(on, 1).atLeast(on.goal(1.5, 1.5, ofRegister)));
        } else {
            workload.show(timesRaw(on, threads).atLeast(on.goal(0.8, 1.5, 0.8)));
            if (!on.isSql()) {
                workload.show(timesBestPeer(on, threads).atLeast(on.goal(1.8, 0, 1)));
            }
        }
        if (on.isRedis()) {
            workload.show(times(on, threads, on.peers().get(0)).atLeast(threads == 1 ? 3.5 : 10));
        } else if (on.isSql() && threads > 1) {
            on.peers().forEach(peer -> workload.show(times(on, threads, peer).atLeast(8)));
        }
    }

    private static Figure times(Contestants on, int threads, Contestant peer) {
        return ClientWorkers.times(on, threads, peer.title(), List.of(peer));
    }
}
