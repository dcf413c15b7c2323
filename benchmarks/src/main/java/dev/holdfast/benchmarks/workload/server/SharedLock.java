package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** One hot lock on a server, in one process. */
public final class SharedLock {

    private static final int FEW = 2;
    private static final int[] THREADS = {FEW, 64, 500};
    private static final double PAIRS = 500_000;

    private SharedLock() {}

    /**
     * Measures one hot lock.
     *
     * @param timesBestPeer the goal for the pairs of ours, divided by those of the best peer
     */
    public static Workload on(Contestants on, OptionalDouble timesBestPeer) {
        List<Cell> cells = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        for (int threads : THREADS) {
            List<Contestant> contestants = new ArrayList<>(on.all());
            Figure pairs = Figure.of(ClientWorkers.id(on.ours(), threads), "pairs", Unit.PER_SECOND, "pairs/s");
            Figure times = ClientWorkers.timesBestPeer(on, threads);
            if (threads > FEW) {
                // Two threads alternate anyway.
                contestants.addAll(on.fairPeers());
                pairs = pairs.atLeast(PAIRS);
                times = timesBestPeer.isPresent() ? times.atLeast(timesBestPeer.getAsDouble()) : times;
            }
            contestants.forEach(contestant -> cells.add(ClientWorkers.cell(on, contestant, threads, 1)));
            figures.addAll(List.of(pairs, times));
        }
        return new Workload(
                on.name() + "-hot",
                on.title() + ", one hot lock in one process",
                String.format(
                        "As `%s-own`, but all threads want one lock. A peer, or a lock by hand, whose threads do not"
                                + " come to an end is left to itself after a while; that is told below.",
                        on.name()),
                Optional.of(on.server()),
                cells,
                List.of(),
                ClientWorkers.columns(on),
                figures);
    }
}
