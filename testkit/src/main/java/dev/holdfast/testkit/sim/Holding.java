package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;

/** What the judge has written down about one hold in the hands of an actor. */
final class Holding {

    final Hold hold;
    final Client client;
    final String resource;
    final long token;
    final long seenAt;

    /** The release was asked for. */
    boolean isReleased;

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

    Holding(Hold hold, Client client, String resource, long token, long seenAt) {
        this.hold = hold;
        this.client = client;
        this.resource = resource;
        this.token = token;
        this.seenAt = seenAt;
        this.heldAt = seenAt;
    }

    /** Whether its owner may still believe in it. */
    boolean isInHand() {
        return !isReleased && told == 0;
    }

    @Override
    public String toString() {
        return client.name() + "'s hold on " + resource + " with token " + token;
    }
}
