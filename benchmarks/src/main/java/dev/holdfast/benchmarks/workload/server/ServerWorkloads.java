package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.workload.LocksAtOnce;
import dev.holdfast.benchmarks.workload.OpenLoop;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;

/** The workloads that need a server. */
public final class ServerWorkloads {

    private static final int THREADS_OF_OPEN_LOOP = 64;

    /** The same on each kind of server. */
    public static final List<Workload> ALL = Contestants.ALL.stream()
            .flatMap(on -> List.of(
                    OwnLocks.on(on),
                    NewNames.on(on),
                    SharedLock.on(on),
                    ContendingProcesses.on(on),
                    HeldLocks.on(on),
                    locksAtOnce(on),
                    QueuedThreads.on(on),
                    Cold.on(on),
                    Busy.on(on),
                    Cold.withQuota(on),
                    openLoop(on))
                    .stream())
            .toList();

    private ServerWorkloads() {}

    private static Workload locksAtOnce(Contestants on) {
        int locks = on.isRedis() ? 1_000_000 : 100_000;
        Workload workload = on.workload("-at-once", "very many locks at the same time", LocksAtOnce.method(locks));
        LocksAtOnce.fill(workload, on.ours(), locks);
        return workload;
    }

    private static Workload openLoop(Contestants on) {
        Workload workload = on.workload(
                "-open",
                "locks without contention, requests by schedule",
                OpenLoop.method(THREADS_OF_OPEN_LOOP + " threads of one process, with a lock each, serve them."));
        OpenLoop.fill(workload, on.withoutServersOwn(), unused -> THREADS_OF_OPEN_LOOP);
        return workload;
    }
}
