package dev.holdfast.benchmarks.report;

import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The rounds of the workloads that were run, in their order. Not thread-safe. */
public final class Results {

    private final Map<Workload, List<Figure.Round>> rounds = new LinkedHashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private final Map<String, String> servers = new LinkedHashMap<>();
    private final DoubleSummaryStatistics others = new DoubleSummaryStatistics();

    /** Adds the share of the processors that other programs used while a cell ran. */
    public void noteOthers(double part) {
        others.accept(part);
    }

    public String others() {
        return String.format(
                Locale.ROOT,
                "%.0f %% to %.0f %% of the processors, %.0f %% on average",
                others.getMin() * 100,
                others.getMax() * 100,
                others.getAverage() * 100);
    }

    /** Adds the servers that took part, by name, with their versions. */
    public void noteServers(Map<String, String> versions) {
        servers.putAll(versions);
    }

    public Map<String, String> servers() {
        return servers;
    }

    public void add(Workload workload, Figure.Round round) {
        rounds.computeIfAbsent(workload, unused -> new ArrayList<>()).add(round);
        round.cells().forEach((cell, measurements) -> {
            String where = workload.id() + "/" + cell + ": ";
            measurements.violations().forEach(text -> violations.add(where + text));
            measurements.remarks().forEach(text -> remarks.add(where + text));
        });
    }

    /** The results on a kind of server, or without one. */
    public Results on(Optional<Servers.Kind> server) {
        Results part = new Results();
        rounds.forEach((workload, all) -> {
            if (workload.server().equals(server)) {
                all.forEach(round -> part.add(workload, round));
            }
        });
        server.ifPresent(kind -> servers.forEach((name, version) -> {
            if (name.startsWith(kind.title())) {
                part.servers.put(name, version);
            }
        }));
        part.others.combine(others);
        return part;
    }

    public Map<Workload, List<Figure.Round>> rounds() {
        return rounds;
    }

    public List<String> remarks() {
        return remarks;
    }

    public List<String> violations() {
        return violations;
    }
}
