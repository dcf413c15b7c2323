package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.benchmarks.workload.local.HandOver;
import dev.holdfast.benchmarks.workload.local.HotLock;
import dev.holdfast.benchmarks.workload.local.ManyLocks;
import dev.holdfast.benchmarks.workload.local.Processes;
import dev.holdfast.benchmarks.workload.local.Reentrancy;
import dev.holdfast.benchmarks.workload.local.Sharing;
import dev.holdfast.benchmarks.workload.local.SqlitePairs;
import dev.holdfast.benchmarks.workload.local.Waiters;
import dev.holdfast.benchmarks.workload.server.Busy;
import dev.holdfast.benchmarks.workload.server.Cold;
import dev.holdfast.benchmarks.workload.server.ContendingProcesses;
import dev.holdfast.benchmarks.workload.server.Contestants;
import dev.holdfast.benchmarks.workload.server.HeldLocks;
import dev.holdfast.benchmarks.workload.server.NewNames;
import dev.holdfast.benchmarks.workload.server.OwnLocks;
import dev.holdfast.benchmarks.workload.server.QueuedThreads;
import dev.holdfast.benchmarks.workload.server.SharedLock;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** All workloads. */
final class Workloads {

    static final List<Workload> ALL = Stream.of(
                    List.of(
                            Reentrancy.workload(),
                            HotLock.workload(),
                            Sharing.workload(),
                            SqlitePairs.workload(),
                            HandOver.workload(CellMain::start),
                            Waiters.workload(),
                            ManyLocks.workload(),
                            Processes.workload(CellMain::start)),
                    List.of(
                            OwnLocks.onRedis(),
                            NewNames.onRedis(),
                            SharedLock.on(Contestants.REDIS, OptionalDouble.of(100)),
                            ContendingProcesses.onRedis(CellMain::start),
                            HeldLocks.onRedis(),
                            QueuedThreads.onRedis()),
                    onAnyServer(Contestants.REDIS, 1),
                    onSql(
                            Contestants.POSTGRESQL,
                            ContendingProcesses.onPostgresql(CellMain::start),
                            OptionalDouble.empty()),
                    onSql(Contestants.MARIADB, ContendingProcesses.onMariaDb(CellMain::start), OptionalDouble.of(50)),
                    onRegister(Contestants.ETCD, 0.95),
                    onRegister(Contestants.ZOOKEEPER, 3))
            .flatMap(List::stream)
            .toList();

    private Workloads() {}

    private static List<Workload> onSql(Contestants on, Workload processes, OptionalDouble mostIdle) {
        return concat(
                List.of(
                        OwnLocks.onSql(on),
                        NewNames.onSql(on),
                        SharedLock.on(on, OptionalDouble.empty()),
                        processes,
                        HeldLocks.onSql(on),
                        QueuedThreads.onSql(on, mostIdle)),
                onAnyServer(on, 1.2));
    }

    private static List<Workload> onRegister(Contestants on, double timesBestPeer) {
        return concat(
                List.of(
                        OwnLocks.onRegister(on, timesBestPeer),
                        NewNames.onRegister(on, timesBestPeer),
                        SharedLock.on(on, OptionalDouble.empty()),
                        ContendingProcesses.onRegister(on, CellMain::start),
                        HeldLocks.onRegister(on),
                        QueuedThreads.onRegister(on)),
                onAnyServer(on, 1.2));
    }

    private static List<Workload> onAnyServer(Contestants on, double opening) {
        return List.of(Cold.on(on, opening), Busy.on(on), Cold.withQuota(on, CellMain::start));
    }

    private static List<Workload> concat(List<Workload> first, List<Workload> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
