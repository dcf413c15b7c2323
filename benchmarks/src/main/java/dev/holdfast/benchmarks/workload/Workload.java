package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.server.Servers;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A question, the cells that are run to answer it, and the figures read from their measurements.
 *
 * @param id its name on the command line
 * @param method how it is measured, for the page; Markdown
 * @param server the server that its cells need
 * @param cells run one after another in each round
 * @param parts processes that cells start
 * @param columns what is shown of each cell side by side, for cells that do the same with something else
 */
public record Workload(
        String id,
        String title,
        String method,
        Optional<Servers.Kind> server,
        List<Cell> cells,
        List<Cell> parts,
        List<Column> columns,
        List<Figure> figures) {

    /** A number that is shown of each cell. */
    public record Column(String title, Unit unit, String number) {}

    /** A workload that needs no server. */
    public static Workload local(String id, String title, String method, List<Cell> cells, List<Figure> figures) {
        return new Workload(id, title, method, Optional.empty(), cells, List.of(), List.of(), figures);
    }

    public Workload withParts(List<Cell> processes) {
        return new Workload(id, title, method, server, cells, processes, columns, figures);
    }

    /**
     * The cell or the part of an id.
     *
     * @throws IllegalArgumentException if there is none
     */
    public Cell cell(String name) {
        return Stream.concat(cells.stream(), parts.stream())
                .filter(cell -> cell.id().equals(name))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("No cell '" + name + "' in " + id + "; there are "
                        + cells.stream().map(Cell::id).toList()));
    }
}
