package dev.holdfast.store.memory;

import dev.holdfast.spi.SessionId;
import java.util.LinkedHashSet;
import java.util.Set;

/** A client's session and its recorded claims. */
final class MemorySession extends Expiring {

    final SessionId id;
    final String label;
    final long ttl;

    /** The store partition in which it was opened. */
    final int partition;

    /** Only increases. */
    long epoch;

    /**
     * True until it is closed or expires, and false from then on. An ended session stays recorded while it has detached
     * grants.
     */
    boolean live = true;

    /** In order of creation. */
    final Set<MemoryClaim> claims = new LinkedHashSet<>();

    MemorySession(long number, SessionId id, String label, long ttl, int partition) {
        super(number);
        this.id = id;
        this.label = label;
        this.ttl = ttl;
        this.partition = partition;
    }
}
