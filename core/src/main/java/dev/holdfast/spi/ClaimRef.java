package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * The identity of a claim and of its grant. Never reused, and with the resource, by which a store finds its record.
 *
 * @param resource what is claimed
 * @param session the session incarnation under which it is claimed
 * @param claim a positive number that the client uses once in the life of the session
 */
public record ClaimRef(ResourceName resource, SessionId session, long claim) {

    /**
     * Checks the claim number.
     *
     * @throws IllegalArgumentException if {@code claim} is not positive
     */
    public ClaimRef {
        if (claim <= 0) {
            throw new IllegalArgumentException("A claim number must be positive, but was " + claim);
        }
    }

    @Override
    public String toString() {
        return resource + "#" + session + ":" + claim;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ClaimRef that
                && claim == that.claim
                && session.equals(that.session)
                && resource.equals(that.resource);
    }

    @Override
    public int hashCode() {
        return (resource.hashCode() * 31 + session.hashCode()) * 31 + Long.hashCode(claim);
    }
}
