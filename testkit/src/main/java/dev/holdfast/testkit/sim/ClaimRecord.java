package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import org.jspecify.annotations.Nullable;

/** The {@link StoreOracle}'s record of one claim. */
final class ClaimRecord {

    /** Where a claim is in its life; it only goes forward. */
    enum State {
        WAITING,
        HELD,
        ENDED
    }

    /** What ended a claim. */
    enum End {
        RELEASE,
        WITHDRAWAL,
        YIELD,
        CLOSE,
        /** Its session or its fixed lease expired. */
        TIME,
        /** An operator released it by force. */
        FORCE,
        /** A resize left less than it waits for. */
        RESIZING,
        /** The store lost its data. */
        AMNESIA
    }

    /** The record of one session. */
    static final class Session {
        final SessionId id;
        final SimLink owner;
        final long ttlMicros;
        long deadlineMicros;
        boolean isOver;

        Session(SessionId id, SimLink owner, long ttlMicros, long deadlineMicros) {
            this.id = id;
            this.owner = owner;
            this.ttlMicros = ttlMicros;
            this.deadlineMicros = deadlineMicros;
        }

        boolean isDeadAt(long micros) {
            return isOver || deadlineMicros <= micros;
        }
    }

    static final long NO_LEASE = Long.MAX_VALUE;

    final ClaimRef ref;
    final Session session;
    /** The place in the order of all claims. */
    final long place;

    /** When it was made, in true time. */
    final long madeAt;

    State state = State.WAITING;

    @Nullable
    End end;

    /** The place in the order of all grants; 0 before the grant. */
    long grant;

    /** The end of its newest block. */
    long newestToken;

    /** Its weight, as the store reports it. */
    int weight;

    /** After its claimant has received the grant, only its own lease ends it. */
    boolean isDetached;

    boolean isPickedUp;

    /** Its id was published: any client may release it. */
    boolean isGivenAway;

    long leaseEndMicros = NO_LEASE;

    /** An actor was given a hold of it. */
    boolean wasServed;

    /** When a hold of it was first released after its deadline, in true time. */
    long overAt = Long.MAX_VALUE;

    ClaimRecord(ClaimRef ref, Session session, long place, long madeAt) {
        this.ref = ref;
        this.session = session;
        this.place = place;
        this.madeAt = madeAt;
    }

    /** Whether it has expired, so that the store may have dropped it. */
    boolean isOverTimeAt(long micros) {
        return leaseEndMicros <= micros || (session.isDeadAt(micros) && !outlivesSession());
    }

    boolean outlivesSession() {
        return isDetached && isPickedUp;
    }

    boolean isHeldAt(long micros) {
        return state == State.HELD && !isOverTimeAt(micros);
    }

    @Override
    public String toString() {
        return ref + " (" + state + (end == null ? "" : " by " + end) + ")";
    }
}
