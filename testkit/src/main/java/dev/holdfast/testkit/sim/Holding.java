package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.spi.Lease;

/** The {@link HoldOracle}'s record of one hold. */
final class Holding {

    final SimClient client;
    final SimResource resource;

    /** The whole request, which may be for several resources. */
    final AcquireIntent intent;

    final Lease.Binding binding;
    final boolean isPartOfSeveral;
    final long token;
    final long seenAt;

    /** The acquisition that its owner uses. */
    Hold hold;

    /** How much of the resource it has; less after a downgrade. */
    int weight;

    /** Its second acquisition writes. */
    boolean isInnerWrite;

    /** Its release was requested. */
    boolean isReleased;

    /** Its id was published to a client that may release it. */
    boolean isGivenAway;

    /** The release has ended. */
    boolean hasEnded;

    /** It was valid at the store when its release was requested. */
    boolean wasInForce;

    /** How often its loss was reported. */
    int lossReports;

    /** It was seen without remaining time. */
    boolean wasOver;

    /** When the check for unreported losses first found it expired; the end of time if it did not. */
    long overSince = Long.MAX_VALUE;

    /** It was seen neither held nor expired. */
    boolean wasInDoubt;

    /** When it was last seen held. */
    long heldAt;

    Holding(Hold hold, SimClient client, AcquireIntent intent, AcquireIntent.Part part, long token, long seenAt) {
        this.hold = hold;
        this.client = client;
        this.intent = intent;
        this.resource = part.resource();
        this.weight = part.weight();
        this.binding = intent.binding();
        this.isPartOfSeveral = intent.parts.size() > 1;
        this.token = token;
        this.seenAt = seenAt;
        this.heldAt = seenAt;
    }

    /** Whether its owner may still rely on it. */
    boolean isInHand() {
        return !isReleased && lossReports == 0;
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
