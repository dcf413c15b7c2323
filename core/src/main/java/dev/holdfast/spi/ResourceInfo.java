package dev.holdfast.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a store records about one resource, for people and tools: all of it as it was at one moment, between the request
 * and the answer. The dead may still be named, with nothing left of their leases.
 *
 * @param name the resource
 * @param spec what it is declared to be, with the present capacity
 * @param declaredCapacity the capacity that its users declare, whatever it was {@linkplain Command.Resize resized} to
 * @param holders who holds it, oldest grant first; where many do, a part of them, as {@link Command.Inspect} says
 * @param holding how many hold it in all
 * @param held how much they hold together: the sum of their weights
 * @param waiters who waits, head first; may be cut off after a number that the store chooses
 * @param waiting how many wait in all
 * @param lastToken the newest token that was reserved
 */
public record ResourceInfo(
        ResourceName name,
        ResourceSpec spec,
        int declaredCapacity,
        List<Party> holders,
        long holding,
        long held,
        List<Party> waiters,
        long waiting,
        long lastToken) {

    /** Copies the lists. */
    public ResourceInfo {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    /** What its users declare it to be. */
    public ResourceSpec declared() {
        return new ResourceSpec(spec.kind(), declaredCapacity, spec.order());
    }

    /** The same with other holders, as they are put together from several pages. */
    public ResourceInfo withHolders(List<Party> others) {
        return new ResourceInfo(name, spec, declaredCapacity, others, holding, held, waiters, waiting, lastToken);
    }

    /**
     * A holder or waiter.
     *
     * @param claim its claim
     * @param label the label of its session
     * @param weight how much it holds or asks for
     * @param tokens its token block; empty for a waiter
     * @param remaining what is left of its lease, or of its session's ttl, without renewal
     */
    public record Party(ClaimRef claim, String label, int weight, Optional<TokenBlock> tokens, Duration remaining) {}
}
