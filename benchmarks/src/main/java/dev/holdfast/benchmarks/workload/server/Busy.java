package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.BusyLoop;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Locks without contention on a machine whose processors are busy with other programs. */
public final class Busy {

    private static final List<Integer> OTHERS = List.of(1, 2, 4);

    private Busy() {}

    public static Workload on(Contestants on) {
        List<Cell> cells = new ArrayList<>();
        List<Figure> figures = new ArrayList<>();
        for (int others : OTHERS) {
            on.withoutServersOwn()
                    .forEach(contestant -> cells.add(Cell.of(
                            contestant,
                            ClientWorkers.id(contestant, others),
                            (bench, measurements) ->
                                    measure(on, contestant, bench.scaledOverOne(others), bench, measurements))));
            figures.add(ClientWorkers.timesRaw(on, others).atLeast(0.9));
            figures.add(ClientWorkers.timesBestPeer(on, others).atLeast(1));
        }
        return new Workload(
                on.name() + "-busy",
                on.title() + ", beside programs that never sleep",
                ClientWorkers.method(
                        "While as many processes as the name of the row ends with compute without a break, one thread"
                                + " acquires and releases a lock of its own",
                        on),
                Optional.of(on.server()),
                cells,
                List.of(),
                ClientWorkers.columns(on),
                figures);
    }

    private static void measure(
            Contestants on, Contestant contestant, int others, Bench bench, Measurements measurements)
            throws Exception {
        List<Jvm> busy = new ArrayList<>();
        try {
            for (int i = 0; i < others; i++) {
                busy.add(Jvm.start(Jvm.Purpose.TRIAL, BusyLoop.class, List.of()));
            }
            ClientWorkers.measure(on, contestant, 1, 1, bench, measurements);
        } finally {
            busy.forEach(Jvm::close);
        }
    }
}
