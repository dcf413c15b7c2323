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
            SharedLock.onSql(Field.POSTGRESQL),
            Rivals.onPostgresql(),
            HeldLocks.onSql(Field.POSTGRESQL),
            QueuedThreads.onSql(Field.POSTGRESQL, OptionalDouble.empty()),
            OwnLocks.onSql(Field.MARIADB),
            NewNames.onSql(Field.MARIADB),
            SharedLock.onSql(Field.MARIADB),
            Rivals.onMariaDb(),
            HeldLocks.onSql(Field.MARIADB),
            QueuedThreads.onSql(Field.MARIADB, OptionalDouble.of(50)));

    private Workloads() {}

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
