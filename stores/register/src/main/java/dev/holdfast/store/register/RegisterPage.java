package dev.holdfast.store.register;

import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A page of the records that a server keeps.
 *
 * @param entries the records, none of them empty
 * @param unnamed the entries among them under names that no resource can have
 * @param cursor where the next page begins; empty after the last
 */
public record RegisterPage(List<Entry> entries, List<DamagedRecord> unnamed, Optional<String> cursor) {

    /** Copies the lists. */
    public RegisterPage {
        entries = List.copyOf(entries);
        unnamed = List.copyOf(unnamed);
    }

    /** A page on which all names are those of resources. */
    public RegisterPage(List<Entry> entries, Optional<String> cursor) {
        this(entries, List.of(), cursor);
    }

    /**
     * A record with its resource.
     *
     * @param age a lower bound of the time since it was written; zero if the server has no clock
     */
    public record Entry(ResourceName resource, RegisterRecord record, Duration age) {}
}
