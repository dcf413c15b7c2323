package dev.holdfast.store.memory;

import dev.holdfast.spi.SessionId;
import java.util.LinkedHashSet;
import java.util.Set;

/** A client's session, with the claims that the store records under it. */
final class Session extends Expiring {

    final SessionId id;
    final String label;
    final long ttl;

    /** The partition of the store that it is a session of. */
    final int partition;

    /** Rises only. */
    long epoch;

    /**
     * True until it is closed or expires, and never again. An ended session stays known while detached grants name it.
     */
    boolean live = true;

    /** In the order in which they were made. */
    final Set<Claim> claims = new LinkedHashSet<>();

    Session(long number, SessionId id, String label, long ttl, int partition) {
        super(number);
        this.id = id;
        this.label = label;
        this.ttl = ttl;
        this.partition = partition;
    }
}
