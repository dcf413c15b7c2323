package dev.holdfast.store.register;

import java.util.List;

/**
 * The arrivals at a resource, and its record.
 *
 * @param waiting the arrivals, in the same order for all clients
 * @param record the record, read with them or after them: it shows the claims that were added before they were read
 */
public record Arrivals(List<Arrival> waiting, RegisterRecord record) {

    /** Copies the list. */
    public Arrivals {
        waiting = List.copyOf(waiting);
    }
}
