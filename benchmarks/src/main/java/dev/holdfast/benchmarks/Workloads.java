package dev.holdfast.benchmarks;

import java.util.List;

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
            new SharedLock(Field.REDIS),
            Rivals.onRedis(),
            new HeldLocks(Field.REDIS),
            new QueuedThreads(Field.REDIS));

    private Workloads() {}

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
