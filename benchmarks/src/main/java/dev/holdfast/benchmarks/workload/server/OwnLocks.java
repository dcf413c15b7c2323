package dev.holdfast.benchmarks.workload.server;

import static dev.holdfast.benchmarks.workload.server.ClientWorkers.timesBestPeer;
import static dev.holdfast.benchmarks.workload.server.ClientWorkers.timesRaw;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** Locks without contention on a server: one thread, and many threads with a lock each. */
public final class OwnLocks {

    private static final int ONE = 1;
    private static final List<Integer> THREADS = List.of(ONE, 64, 500);

    private OwnLocks() {}

    public static Workload onRedis() {
        Contestants on = Contestants.REDIS;
        Contestant redisson = on.peers().get(0);
        return of(
                on,
                threads -> List.of(
                        timesRaw(on, threads).atLeast(0.8),
                        ClientWorkers.times(on, threads, redisson.title(), List.of(redisson))
                                .atLeast(threads == ONE ? 3.5 : 10),
                        timesBestPeer(on, threads).atLeast(threads == ONE ? 1.5 : 1.8)),
                List.of());
    }

    public static Workload onSql(Contestants on) {
        // A keep-alive may fall into the window, and belongs to no pair.
        return of(
                on,
                threads -> threads == ONE
                        ? List.of(
                                timesRaw(on, ONE).atLeast(0.85),
                                timesBestPeer(on, ONE).atLeast(1.5))
                        : goalsOfMany(on, threads),
                List.of(cost(on, "statements of a pair", "commands")));
    }

    private static List<Figure> goalsOfMany(Contestants on, int threads) {
        List<Figure> goals = new ArrayList<>(List.of(timesRaw(on, threads).atLeast(1.5)));
        on.peers()
                .forEach(peer -> goals.add(ClientWorkers.times(on, threads, peer.title(), List.of(peer))
                        .atLeast(8)));
        return goals;
    }

    /** On a server that writes to a quorum. */
    public static Workload onRegister(Contestants on, double timesBestPeer) {
        return of(
                on,
                threads -> List.of(
                        timesRaw(on, threads).atLeast(threads == ONE ? 0.85 : 0.8),
                        timesBestPeer(on, threads).atLeast(threads == ONE ? timesBestPeer : 1)),
                List.of(cost(on, "writes of a pair", "commits")));
    }

    private static Figure cost(Contestants on, String label, String number) {
        return Figure.of(ClientWorkers.id(on.ours(), ONE), label, Unit.COUNT, number)
                .atMost(2.05);
    }

    private static Workload of(Contestants on, IntFunction<List<Figure>> goals, List<Figure> costs) {
        List<Cell> cells = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        for (int threads : THREADS) {
            List<Contestant> contestants = new ArrayList<>(on.all());
            if (threads == ONE) {
                // Without contention a fair lock does the same and more, so one cell of each is enough.
                contestants.addAll(on.fairPeers());
            }
            contestants.forEach(contestant -> cells.add(ClientWorkers.cell(on, contestant, threads, threads)));
            figures.addAll(goals.apply(threads));
        }
        figures.addAll(costs);
        return new Workload(
                on.name() + "-own",
                on.title() + ", without contention",
                ClientWorkers.method("Threads of one process acquire and release a lock each", on),
                Optional.of(on.server()),
                cells,
                List.of(),
                ClientWorkers.columns(on),
                figures);
    }
}
