package dev.holdfast.benchmarks;

import java.util.List;
import java.util.OptionalDouble;

/** All that is measured. */
final class Workloads {

    static final List<Workload> ALL = List.of(
            new Reentrancy(),
            new HotLock(),
            new Sharing(),
            new SqlitePairs(),
            new HandOff(),
            new Waiters(),
            new ManyLocks(),
            new Processes(),
            OwnLocks.onRedis(),
            NewNames.onRedis(),
            SharedLock.onRedis(),
            Rivals.onRedis(),
            HeldLocks.onRedis(),
            QueuedThreads.onRedis(),
            OwnLocks.onSql(Field.POSTGRESQL),
            NewNames.onSql(Field.POSTGRESQL),
            SharedLock.on(Field.POSTGRESQL),
            Rivals.onPostgresql(),
            HeldLocks.onSql(Field.POSTGRESQL),
            QueuedThreads.onSql(Field.POSTGRESQL, OptionalDouble.empty()),
            OwnLocks.onSql(Field.MARIADB),
            NewNames.onSql(Field.MARIADB),
            SharedLock.on(Field.MARIADB),
            Rivals.onMariaDb(),
            HeldLocks.onSql(Field.MARIADB),
            QueuedThreads.onSql(Field.MARIADB, OptionalDouble.of(50)),
            OwnLocks.onRegister(Field.ETCD, 0.95),
            NewNames.onRegister(Field.ETCD, 0.95),
            SharedLock.on(Field.ETCD),
            Rivals.onRegister(Field.ETCD),
            HeldLocks.onRegister(Field.ETCD),
            QueuedThreads.onRegister(Field.ETCD),
            OwnLocks.onRegister(Field.ZOOKEEPER, 3),
            NewNames.onRegister(Field.ZOOKEEPER, 3),
            SharedLock.on(Field.ZOOKEEPER),
            Rivals.onRegister(Field.ZOOKEEPER),
            HeldLocks.onRegister(Field.ZOOKEEPER),
            QueuedThreads.onRegister(Field.ZOOKEEPER));

    private Workloads() {}

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
