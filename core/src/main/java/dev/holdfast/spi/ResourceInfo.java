package dev.holdfast.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a store records about one resource at one moment between the request and the reply, for people and tools. Dead
 * holders and waiters may still be listed, with nothing left of their leases.
 *
 * @param name the resource
 * @param spec what it is declared to be, with the current capacity
 * @param declaredCapacity the capacity that its users declare, before any {@linkplain Command.Resize change}
 * @param holders its holders, oldest grant first; if there are many, a part of them, as {@link Command.Inspect} says
 * @param holding the number of all holders
 * @param usedCapacity how much they hold together: the sum of their weights
 * @param waiters its waiters, head first; may be cut off after a number that the store chooses
 * @param waiting the number of all waiters
 * @param lastToken the newest reserved token
 */
public record ResourceInfo(
        ResourceName name,
        ResourceSpec spec,
        int declaredCapacity,
        List<Party> holders,
        long holding,
        long usedCapacity,
        List<Party> waiters,
        long waiting,
        long lastToken) {

    /** Copies the lists. */
    public ResourceInfo {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    /** The specification that its users declare. */
    public ResourceSpec declared() {
        return new ResourceSpec(spec.kind(), declaredCapacity, spec.order());
    }

    /** The same with the holders of several pages. */
    public ResourceInfo withHolders(List<Party> others) {
        return new ResourceInfo(
                name, spec, declaredCapacity, others, holding, usedCapacity, waiters, waiting, lastToken);
    }

    /**
     * A holder or waiter.
     *
     * @param claim its claim
     * @param label the label of its session
     * @param weight how much it holds or requests
     * @param tokens its token block; empty for a waiter
     * @param remaining what is left of its lease, or of its session's ttl, without renewal
     * @param ttl the ttl of its session; zero if the store does not know the session any more
     * @param waited how long a waiter has been in the queue; empty for a holder, for a waiter that an earlier version
     *     of the program queued, and where the store does not know waiters
     * @param annotation what its client has {@linkplain Command.Annotate annotated} its grant with; empty if nothing
     */
    public record Party(
            ClaimRef claim,
            String label,
            int weight,
            Optional<TokenBlock> tokens,
            Duration remaining,
            Duration ttl,
            Optional<Duration> waited,
            String annotation) {

        /** The message of the holder: the first line of the annotation. Empty if there is none. */
        public String message() {
            int end = annotation.indexOf('\n');
            return end < 0 ? annotation : annotation.substring(0, end);
        }

        /** What the owners of this grant wait for: the other lines of the annotation. */
        public List<String> waits() {
            int end = annotation.indexOf('\n');
            return end < 0 ? List.of() : annotation.substring(end + 1).lines().toList();
        }
    }
}
