package dev.holdfast.store.register.client;

import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The wait of a round with announced claims, until a holder has added them to the record. The holder's next write does
 * so; a client that wrote at the same time would only make it fail.
 *
 * <p>The wait is a few pauses with a read of the record after each, without the arrivals. If mail has brought the
 * record, that ends the pause, and nothing is read. The longest pause doubles each time, and a random pause is at least
 * half of it, because mail mostly comes first. Afterwards the wait is exhausted: the holder may have died, or keep the
 * resource for long, and the round reads the arrivals itself.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class IntakeWait {

    private static final int MOST_READS = 2;

    /** The same where many hand the resource over to each other, so that a turn of all of them takes long. */
    private static final int MOST_CROWDED_READS = 4;

    /** In a crowd, the longest pause is the time of a write, doubled this many times. */
    private static final int MOST_CROWDED_DOUBLINGS = 6;

    /** Otherwise it is this, in which a distant holder releases a grant, or the time of some writes. */
    private static final long LONGEST_NANOS = 250_000_000;

    private static final int MOST_WRITES = 4;

    private final Context context;
    private final Lane lane;

    private long announcedAt;

    /** The version of the record when the claims were announced. */
    private @Nullable RecordVersion version;

    private int reads;

    /** Whether the present record was read without its arrivals. */
    private boolean isReadingRecordOnly;

    /** How recent a record must be. */
    enum Freshness {
        /** A record from mail, which may have been sent before the round began. */
        MAILED,
        PRESENT
    }

    IntakeWait(Context context, Lane lane) {
        this.context = context;
        this.lane = lane;
    }

    /** Notes that the claims have been announced. */
    void begin() {
        announcedAt = context.now();
        version = lane.known == null ? null : lane.known.version();
        reads = 0;
    }

    /** Whether others have written the record since the announcement. */
    boolean hasRecordChanged() {
        return version != null && lane.known != null && !version.equals(lane.known.version());
    }

    /** Whether all pauses have passed. */
    boolean isExhausted() {
        return reads >= (lane.contention().isCrowded() ? MOST_CROWDED_READS : MOST_READS);
    }

    /** Continues after a pause, or as soon as mail about the resource comes. */
    void pause(Runnable next) {
        reads++;
        long longest = Math.min(lane.contention().intakeNanos() << reads, longest());
        lane.pauseUntilMail(longest / 2 + context.upTo(longest / 2), next);
    }

    private long longest() {
        return lane.contention().isCrowded()
                ? lane.contention().writeNanos() << MOST_CROWDED_DOUBLINGS
                : Math.max(LONGEST_NANOS, MOST_WRITES * lane.contention().writeNanos());
    }

    /** Reads the record without its arrivals, or returns the one that mail has brought. */
    CompletionStage<RegisterRecord> read(Freshness freshness) {
        isReadingRecordOnly = true;
        RegisterRecord mailed = freshness == Freshness.MAILED && lane.takeNews() ? lane.known : null;
        return mailed != null
                ? CompletableFuture.completedFuture(mailed)
                : context.adapter().read(lane.resource());
    }

    boolean isReadingRecordOnly() {
        return isReadingRecordOnly;
    }

    /** Notes that the next read includes the arrivals, where they matter. */
    void beginReadingArrivals() {
        isReadingRecordOnly = false;
    }

    /** Notes that all claims were found in the record. */
    void succeeded() {
        lane.contention().intakeTook(context.now() - announcedAt);
    }

    /** Notes that the record has not changed in that time: its holder keeps the resource for longer. */
    void failed() {
        long waited = context.now() - announcedAt;
        lane.contention().keptWaiting(waited, waited >= longest());
    }
}
