package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.benchmarks.workload.local.LocalWorkloads;
import dev.holdfast.benchmarks.workload.server.ServerWorkloads;
import java.util.List;
import java.util.stream.Stream;

/** All workloads. */
final class Workloads {

    static final List<Workload> ALL = Stream.concat(LocalWorkloads.ALL.stream(), ServerWorkloads.ALL.stream())
            .toList();

    private Workloads() {}

    static Workload byId(String id) {
        return ALL.stream()
                .filter(workload -> workload.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No workload '" + id + "'; there are "
                        + ALL.stream().map(Workload::id).toList()));
    }
}
