package dev.holdfast.store.register;

import java.util.List;

/**
 * The arrivals at a resource, and its record.
 *
 * @param waiting the arrivals, in one order for all who ask
 * @param record read with them or after them: it shows what was taken in before they were read
 */
public record Arrivals(List<Arrival> waiting, RegisterRecord record) {

    /** Copies the list. */
    public Arrivals {
        waiting = List.copyOf(waiting);
    }
}
