package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.report.Table;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Every workload")
@Tag("server")
class WorkloadsTest {

    private static final Duration WARM_UP = Duration.ofMillis(20);
    private static final Duration TIME = Duration.ofMillis(50);
    private static final double SCALE = 0.01;

    /**
     * The servers of cells that run side by side, a set for each: nothing is measured here, and cells mostly wait, for
     * a window or for JVMs to start.
     */
    private static final List<Servers> LANES =
            Stream.generate(Servers::new).limit(3).toList();

    private static final Queue<Servers> FREE = new ConcurrentLinkedQueue<>(LANES);
    private static final ExecutorService THREADS = Executors.newFixedThreadPool(LANES.size());

    @AfterAll
    static void endServers() {
        THREADS.shutdownNow();
        LANES.forEach(Servers::close);
    }

    /** Those on other servers do as those on Redis with others, see {@code ContestantsTest}, and would take minutes. */
    static Stream<String> ids() {
        return Workloads.ALL.stream()
                .filter(workload -> workload.server().stream().allMatch(Servers.Kind.REDIS::equals))
                .map(Workload::id);
    }

    @Test
    @DisplayName("has the cells that its figures are about")
    void hasTheCellsOfItsFigures() {
        for (Workload workload : Workloads.ALL) {
            List<String> cells = workload.cells().stream().map(Cell::id).toList();
            assertThat(cells).as(workload.id()).doesNotHaveDuplicates();
            for (Figure figure : workload.figures()) {
                assertThat(cells).as(workload.id()).containsAll(figure.term().cells());
                Figure.Term base = figure.base();
                if (base != null) {
                    assertThat(cells).as(workload.id()).containsAll(base.cells());
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ids")
    @DisplayName("runs, sees no lock fail, and has a number for each of its figures")
    void runsWithoutViolations(String id, @TempDir Path directory) throws Exception {
        Workload workload = Workloads.byId(id);
        Map<String, Measurements> measurements = run(workload, directory);
        Results results = new Results();
        results.add(workload, new Figure.Round(measurements));

        assertThat(results.violations()).isEmpty();
        // A peer may be slow to end here, but must run.
        assertThat(results.remarks())
                .allMatch(remark -> remark.contains("did not come to an end") || remark.contains("processor"));
        assertThat(workload.figures())
                .allSatisfy(figure -> assertThat(figure.sorted(List.of(new Figure.Round(measurements))))
                        .hasSize(1));
        // In so short a time a cell may make no pair, of which nothing can be told; but not all of them.
        assertThat(workload.columns())
                .allSatisfy(column -> assertThat(measurements.values())
                        .as(column.title())
                        .anyMatch(cell -> cell.has(column.number())));
        assertThat(Table.of(results).lines()).hasSize(2 + workload.figures().size());
        assertThat(Table.boards(results))
                .allSatisfy(board -> assertThat(board.lines()).hasSize(2 + measurements.size()));
    }

    private static Map<String, Measurements> run(Workload workload, Path directory) throws Exception {
        List<Callable<Measurements>> cells = new ArrayList<>();
        for (Cell cell : workload.cells()) {
            Path place = Files.createDirectory(directory.resolve(cell.id()));
            cells.add(() -> run(workload, cell, place));
        }
        Iterator<Future<Measurements>> runs = THREADS.invokeAll(cells).iterator();
        Map<String, Measurements> measurements = new LinkedHashMap<>();
        for (Cell cell : workload.cells()) {
            measurements.put(cell.id(), runs.next().get());
        }
        return measurements;
    }

    private static Measurements run(Workload workload, Cell cell, Path place) throws Exception {
        Servers servers = FREE.remove();
        try {
            workload.server().ifPresent(kind -> servers.lend(kind, place));
            Measurements measured = new Measurements();
            cell.body().run(Bench.after(WARM_UP, place, TIME, SCALE), measured);
            return measured;
        } finally {
            FREE.add(servers);
        }
    }
}
