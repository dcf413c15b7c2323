package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.server.Servers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A question, the cells that are run to answer it, and the figures that are read from their sheets. */
public interface Workload {

    /** From before the start of a JVM to the window; compiling what is hot takes most of it. */
    Duration WARM_UP = Duration.ofSeconds(4);

    /** What the command line calls it. */
    String id();

    String title();

    /** How it is measured, for the page; Markdown. */
    String method();

    /** Run one after another in each round. */
    List<Cell> cells();

    /** Processes that cells start. */
    default List<Cell> parts() {
        return List.of();
    }

    List<Figure> figures();

    /** The server that its cells need. */
    default Optional<Servers.Kind> server() {
        return Optional.empty();
    }

    /** What is shown of each cell side by side, for cells that do the same with something else. */
    default List<Column> columns() {
        return List.of();
    }

    /** A number that is shown of each cell. */
    record Column(String title, Unit unit, String number) {}

    /**
     * The cell or the part of an id.
     *
     * @throws IllegalArgumentException if there is none
     */
    default Cell cell(String id) {
        return Stream.concat(cells().stream(), parts().stream())
                .filter(cell -> cell.id().equals(id))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No cell '" + id + "' in " + id() + "; there are "
                        + cells().stream().map(Cell::id).toList()));
    }
}
