package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.spi.Lease;

/** What the judge has written down about one hold in the hands of an actor. */
final class Holding {

    final Client client;
    final SimResource resource;

    /** All that was asked for together. */
    final Wish wish;

    final Lease.Binding binding;
    final boolean isPartOfSeveral;
    final long token;
    final long seenAt;

    /** The handle that its owner uses. */
    Hold hold;

    /** How much of the resource it has; a writer that only reads from now on has less. */
    int weight;

    /** Its second acquisition was to write. */
    boolean isInnerWrite;

    /** The release was asked for. */
    boolean isReleased;

    /** Its id was told to somebody who may give it back. */
    boolean isGivenAway;

    /** The release has ended. */
    boolean hasEnded;

    /** The store kept it when the release was asked for. */
    boolean wasInForce;

    /** How often its loss was told. */
    int told;

    /** It was seen with nothing left. */
    boolean wasOver;

    /** When it was first found over by the look for untold losses; the end of time if it was not. */
    long overSince = Long.MAX_VALUE;

    /** It was seen neither held nor over. */
    boolean wasInDoubt;

    /** The last look that found it held. */
    long heldAt;

    Holding(Hold hold, Client client, Wish wish, Wish.Part part, long token, long seenAt) {
        this.hold = hold;
        this.client = client;
        this.wish = wish;
        this.resource = part.resource();
        this.weight = part.weight();
        this.binding = wish.binding();
        this.isPartOfSeveral = wish.parts.size() > 1;
        this.token = token;
        this.seenAt = seenAt;
        this.heldAt = seenAt;
    }

    /** Whether its owner may still believe in it. */
    boolean isInHand() {
        return !isReleased && told == 0;
    }

    boolean isAlone() {
        return resource.isAlone(weight);
    }

    boolean isShare() {
        return resource.isShare(weight);
    }

    @Override
    public String toString() {
        return client.name() + "'s hold on " + (isAlone() ? "" : weight + " of ") + resource.name() + " with token "
                + token;
    }
}
