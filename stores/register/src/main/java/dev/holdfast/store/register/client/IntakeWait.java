package dev.holdfast.store.register.client;

import dev.holdfast.store.register.RegisterRecord;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The wait of a round whose claims were announced, until a holder has taken them into the record. The next write of the
 * holder does so, and a client that wrote at the same time would only make it fail.
 *
 * <p>The wait is a few pauses with a <em>glance</em> after each: the record is read, but not what waits beside it, and
 * not even the record if it has come with mail, which ends a pause early. The longest pause doubles each time, and a
 * random pause is at least half of it, since mail mostly comes first. Afterwards the patience is over, for the holder
 * may have died or keep the resource for long, and the round reads the arrivals itself.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class IntakeWait {

    /** The most glances. */
    private static final int PATIENCE = 2;

    /** The same where many pass the resource around, so that a turn of all of them takes long. */
    private static final int CROWDED_PATIENCE = 4;

    /** The longest pause is a write's time doubled so many times, where many pass the resource around. */
    private static final int MOST_CROWDED_DOUBLINGS = 6;

    /** Elsewhere it is this, within which a holder far away releases what it was granted, or this many writes. */
    private static final long LONGEST_NANOS = 250_000_000;

    private static final int MOST_WRITES = 4;

    private final Context context;
    private final Lane lane;

    private long announcedAt;

    private int glances;

    /** Whether the record is known as it is now, but not what waits beside it. */
    private boolean isGlance;

    IntakeWait(Context context, Lane lane) {
        this.context = context;
        this.lane = lane;
    }

    /** Notes that the claims have been announced. */
    void begin() {
        announcedAt = context.now();
        glances = 0;
    }

    /** Whether it was glanced often enough. */
    boolean isPatienceOver() {
        return glances >= (lane.isCrowded() ? CROWDED_PATIENCE : PATIENCE);
    }

    /** Goes on after a pause, or as soon as there is mail about the resource, with what is to glance. */
    void pause(Runnable next) {
        glances++;
        long longest = Math.min(lane.takenInNanos() << glances, longest());
        lane.pauseUntilMail(longest / 2 + context.upTo(longest / 2), next);
    }

    private long longest() {
        return lane.isCrowded()
                ? lane.writeNanos() << MOST_CROWDED_DOUBLINGS
                : Math.max(LONGEST_NANOS, MOST_WRITES * lane.writeNanos());
    }

    /**
     * The record as it is now, or as it has come with mail.
     *
     * @param mayBeOlder whether mail will do, which may have been on its way since before the round began
     */
    CompletionStage<RegisterRecord> glance(boolean mayBeOlder) {
        isGlance = true;
        RegisterRecord mailed = mayBeOlder && lane.takeNews() ? lane.known : null;
        return mailed != null
                ? CompletableFuture.completedFuture(mailed)
                : context.adapter().read(lane.resource());
    }

    boolean isGlance() {
        return isGlance;
    }

    /** Notes that what waits is about to be read with the record, where it matters. */
    void endGlance() {
        isGlance = false;
    }

    /** Notes that a glance found all claims in the record. */
    void takenIn() {
        lane.takenIn(context.now() - announcedAt);
    }

    /** Notes that the record has not changed meanwhile: its holder keeps the resource for longer. */
    void wasInVain() {
        long waited = context.now() - announcedAt;
        lane.keptWaiting(waited, waited >= longest());
    }
}
