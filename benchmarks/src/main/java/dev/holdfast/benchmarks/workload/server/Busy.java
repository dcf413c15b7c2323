package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.BusyLoop;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/** Locks without contention on a machine whose processors are busy with other programs. */
final class Busy {

    private Busy() {}

    static Workload on(Contestants on) {
        Workload workload = ClientWorkers.workload(
                on,
                "-busy",
                "beside programs that never sleep",
                "While as many processes as the name of the row ends with compute without a break, one thread acquires"
                        + " and releases a lock");
        for (int others : List.of(1, 2, 4)) {
            for (Contestant contestant : on.withoutServersOwn()) {
                workload.cells()
                        .add(Cell.of(
                                contestant,
                                ClientWorkers.id(contestant, others),
                                (bench, measurements) -> measure(on, contestant, others, bench, measurements)));
            }
            workload.show(
                    ClientWorkers.timesRaw(on, others).atLeast(0.9),
                    ClientWorkers.timesBestPeer(on, others).atLeast(1));
        }
        return workload;
    }

    private static void measure(
            Contestants on, Contestant contestant, int others, Bench bench, Measurements measurements)
            throws Exception {
        List<Jvm> busy = new ArrayList<>();
        try {
            for (int i = 0; i < bench.scaledOverOne(others); i++) {
                busy.add(Jvm.start(Jvm.Purpose.TRIAL, BusyLoop.class, List.of()));
            }
            ClientWorkers.measure(on, contestant, 1, 1, bench, measurements);
        } finally {
            busy.forEach(Jvm::close);
        }
    }
}
