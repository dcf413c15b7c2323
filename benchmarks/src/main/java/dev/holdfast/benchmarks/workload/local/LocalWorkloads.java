package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.workload.LocksAtOnce;
import dev.holdfast.benchmarks.workload.OpenLoop;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;
import java.util.Optional;

/** The workloads that need no server. */
public final class LocalWorkloads {

    public static final List<Workload> ALL = List.of(
            Reentrancy.workload(),
            HotLock.workload(),
            Sharing.workload(),
            SqlitePairs.workload(),
            HandOver.workload(),
            Waiters.workload(),
            ManyLocks.workload(),
            locksAtOnce(),
            Processes.workload(),
            openLoop());

    private LocalWorkloads() {}

    static Workload of(String id, String title, String method) {
        return new Workload(id, title, Optional.empty(), method);
    }

    private static Workload locksAtOnce() {
        int locks = 1_000_000;
        Workload workload = of("at-once", "A million locks at the same time", LocksAtOnce.method(locks));
        LocksAtOnce.fill(workload, Holdfasts.MEMORY, locks);
        return workload;
    }

    /** In memory a thread is quicker than it could be woken, so it works alone and spins. */
    private static Workload openLoop() {
        Workload workload = of(
                "open",
                "Locks without contention, requests by schedule",
                OpenLoop.method("In memory one thread serves them, which spins; on SQLite 64 threads do, with a lock"
                        + " each."));
        OpenLoop.fill(
                workload,
                List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_FULL),
                contestant -> contestant.equals(Holdfasts.MEMORY) ? 1 : 64);
        return workload;
    }
}
