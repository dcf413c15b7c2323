package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.server.Servers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A question, the cells that are run to answer it, and what is shown of their measurements. The lists are filled by the
 * class that defines the workload.
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
        Optional<Servers.Kind> server,
        String method,
        List<Cell> cells,
        List<Cell> parts,
        List<Column> columns,
        List<Figure> figures,
        List<Plot> plots) {

    /** A number that is shown of each cell. */
    public record Column(String title, Unit unit, String number) {}

    /** A workload that has nothing yet. */
    public Workload(String id, String title, Optional<Servers.Kind> server, String method) {
        this(
                id,
                title,
                server,
                method,
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>());
    }

    /** Adds a cell. */
    public void cell(String name, Cell.Body body) {
        cells.add(new Cell(name, body));
    }

    /** Adds a process that cells start. */
    public void part(String name, Cell.Body body) {
        parts.add(new Cell(name, body));
    }

    /** Adds a number that is shown of each cell. */
    public void column(String name, Unit unit, String number) {
        columns.add(new Column(name, unit, number));
    }

    /** Adds figures. */
    public void show(Figure... more) {
        figures.addAll(List.of(more));
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
