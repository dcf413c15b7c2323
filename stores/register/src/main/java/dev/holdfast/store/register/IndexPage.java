package dev.holdfast.store.register;

import java.util.List;
import java.util.Optional;

/**
 * A page of the index of a session.
 *
 * @param entries the claims; a page may be empty although others follow
 * @param cursor where the next page begins; empty after the last
 */
public record IndexPage(List<IndexEntry> entries, Optional<String> cursor) {

    /** Copies the list. */
    public IndexPage {
        entries = List.copyOf(entries);
    }
}
