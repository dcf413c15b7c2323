package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.benchmarks.workload.local.HandOff;
import dev.holdfast.benchmarks.workload.local.HotLock;
import dev.holdfast.benchmarks.workload.local.ManyLocks;
import dev.holdfast.benchmarks.workload.local.Processes;
import dev.holdfast.benchmarks.workload.local.Reentrancy;
import dev.holdfast.benchmarks.workload.local.Sharing;
import dev.holdfast.benchmarks.workload.local.SqlitePairs;
import dev.holdfast.benchmarks.workload.local.Waiters;
import dev.holdfast.benchmarks.workload.server.Busy;
import dev.holdfast.benchmarks.workload.server.Cold;
import dev.holdfast.benchmarks.workload.server.Field;
import dev.holdfast.benchmarks.workload.server.HeldLocks;
import dev.holdfast.benchmarks.workload.server.NewNames;
import dev.holdfast.benchmarks.workload.server.OwnLocks;
import dev.holdfast.benchmarks.workload.server.QueuedThreads;
import dev.holdfast.benchmarks.workload.server.Rivals;
import dev.holdfast.benchmarks.workload.server.SharedLock;
import java.util.List;
import java.util.OptionalDouble;

/** All that is measured. */
final class Workloads {

    static final List<Workload> ALL = List.of(
            new Reentrancy(),
            new HotLock(),
            new Sharing(),
            new SqlitePairs(),
            new HandOff(CellMain::start),
            new Waiters(),
            new ManyLocks(),
            new Processes(CellMain::start),
            OwnLocks.onRedis(),
            NewNames.onRedis(),
            SharedLock.onRedis(),
            Rivals.onRedis(CellMain::start),
            HeldLocks.onRedis(),
            QueuedThreads.onRedis(),
            new Cold(Field.REDIS, 1),
            new Busy(Field.REDIS),
            OwnLocks.onSql(Field.POSTGRESQL),
            NewNames.onSql(Field.POSTGRESQL),
            SharedLock.on(Field.POSTGRESQL),
            Rivals.onPostgresql(CellMain::start),
            HeldLocks.onSql(Field.POSTGRESQL),
            QueuedThreads.onSql(Field.POSTGRESQL, OptionalDouble.empty()),
            new Cold(Field.POSTGRESQL, 1.2),
            new Busy(Field.POSTGRESQL),
            OwnLocks.onSql(Field.MARIADB),
            NewNames.onSql(Field.MARIADB),
            SharedLock.on(Field.MARIADB),
            Rivals.onMariaDb(CellMain::start),
            HeldLocks.onSql(Field.MARIADB),
            QueuedThreads.onSql(Field.MARIADB, OptionalDouble.of(50)),
            new Cold(Field.MARIADB, 1.2),
            new Busy(Field.MARIADB),
            OwnLocks.onRegister(Field.ETCD, 0.95),
            NewNames.onRegister(Field.ETCD, 0.95),
            SharedLock.on(Field.ETCD),
            Rivals.onRegister(Field.ETCD, CellMain::start),
            HeldLocks.onRegister(Field.ETCD),
            QueuedThreads.onRegister(Field.ETCD),
            new Cold(Field.ETCD, 1.2),
            new Busy(Field.ETCD),
            OwnLocks.onRegister(Field.ZOOKEEPER, 3),
            NewNames.onRegister(Field.ZOOKEEPER, 3),
            SharedLock.on(Field.ZOOKEEPER),
            Rivals.onRegister(Field.ZOOKEEPER, CellMain::start),
            HeldLocks.onRegister(Field.ZOOKEEPER),
            QueuedThreads.onRegister(Field.ZOOKEEPER),
            new Cold(Field.ZOOKEEPER, 1.2),
            new Busy(Field.ZOOKEEPER));

    private Workloads() {}

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
