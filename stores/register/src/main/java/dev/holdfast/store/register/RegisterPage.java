package dev.holdfast.store.register;

import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A page of the records that a server keeps.
 *
 * @param entries the records, none of them empty
 * @param cursor where the next page begins; empty after the last
 */
public record RegisterPage(List<Entry> entries, Optional<String> cursor) {

    /** Copies the list. */
    public RegisterPage {
        entries = List.copyOf(entries);
    }

    /**
     * A record and whose it is.
     *
     * @param age for how long it has not been written, at least; zero where the server does not tell the time
     */
    public record Entry(ResourceName resource, RegisterRecord record, Duration age) {}
}
