package dev.holdfast.store.register.client;

import dev.holdfast.store.register.RegisterRecord;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The wait of a round whose claims were announced, until a holder has taken them into the record. A round waits so
 * where many pass the resource around: a holder that goes on writes anyway, and a client that wrote at the same time
 * would only make it fail.
 *
 * <p>The wait is a few pauses with a <em>glance</em> after each: the record is read, but not what waits beside it, and
 * not even the record if it has come with mail, which ends a pause early. The longest pause doubles each time, and a
 * random pause is at least half of it, since mail mostly comes first. Afterwards the patience is over, for the holder
 * may have died, and the round looks at the arrivals itself.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class IntakeWait {

    /** The most glances. */
    private static final int PATIENCE = 4;

    /** The longest pause is a write's time doubled so many times. */
    private static final int MOST_DOUBLINGS = 3;

    /** The same where many pass the resource around, so that a turn of all of them takes long. */
    private static final int MOST_CROWDED_DOUBLINGS = 6;

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
    }

    /** Whether it was glanced often enough. */
    boolean isPatienceOver() {
        return glances == PATIENCE;
    }

    /** Goes on after a pause, or as soon as there is mail about the resource, with what is to glance. */
    void pause(Runnable next) {
        glances++;
        int doublings = lane.isCrowded() ? MOST_CROWDED_DOUBLINGS : MOST_DOUBLINGS;
        long longest = Math.min(lane.takenInNanos() << glances, lane.writeNanos() << doublings);
        lane.pauseUntilMail(longest / 2 + context.upTo(longest / 2), next);
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
}
