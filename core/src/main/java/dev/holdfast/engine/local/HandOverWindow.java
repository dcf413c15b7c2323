package dev.holdfast.engine.local;

import dev.holdfast.engine.client.SafetyRules;

/*
 * With strict order, a grant is handed over in memory only while it is known that no one waits at the store. The store
 * is asked by polls of the grant. An answer was computed after its question was sent, and says nothing about later
 * claims. So it counts for one and a half round trips from the sending: a claim that is queued right after the answer
 * was computed is passed by holds of this process for about one round trip, and the next answer reports it. Counted
 * from the arrival of the answer, or without an end, the time in which others are passed would have no such bound.
 *
 * A window shorter than the time between two answers makes the holders wait for the store. Two questions are therefore
 * in flight, half a round trip apart.
 */

/** The time in which a strict grant is handed over in memory. Guarded by the lock of its resource. */
final class HandOverWindow {

    /** The shortest window: on a store that answers at once, it costs less than constant questions. */
    private static final long MIN_NANOS = 400_000;

    /** The shortest time between two questions, and the shortest use of an answer that took unusually long. */
    private static final long PAUSE_NANOS = 100_000;

    private static final int MAX_QUESTIONS = 2;

    /** How many of the latest round trips the average covers, roughly. */
    private static final int AVERAGED = 8;

    /** The questions in flight. */
    private int questions;

    /** When the newest question was asked; without meaning before the first. */
    private long askedAt;

    private boolean wasAsked;

    /** When the newest of the answered questions was sent. */
    private long sentAt;

    private boolean wasAnswered;

    /** The newest answer says that no one waits. */
    private boolean isUnawaited;

    /** How long that counts, from the sending. */
    private long nanos;

    /** The average round trip; 0 before the first. */
    private long tripNanos;

    /** Whether a hold may be handed over now. */
    boolean isOpen(long now, SafetyRules rules) {
        return isUnawaited && rules.mayHandOverUnasked(now, sentAt, nanos);
    }

    /**
     * Notes a question, if one is due so that the window stays open.
     *
     * @return whether to ask now
     */
    boolean askInTime(long now) {
        long pause = Math.max(PAUSE_NANOS, tripNanos / MAX_QUESTIONS);
        return questions < MAX_QUESTIONS && (!wasAsked || now - askedAt >= pause) && ask(now);
    }

    /**
     * Notes a question that a hand-over waits for, unless one is in flight.
     *
     * @return whether to ask now
     */
    boolean askNow(long now) {
        return questions == 0 && ask(now);
    }

    private boolean ask(long now) {
        questions++;
        askedAt = now;
        wasAsked = true;
        return true;
    }

    /** A question has no answer. */
    void fail() {
        questions = Math.max(0, questions - 1);
    }

    /** Takes the answer to a question that was sent at a time. An older one than the newest does not count. */
    void answer(boolean isAwaited, long questionSentAt, long now) {
        questions = Math.max(0, questions - 1);
        long trip = now - questionSentAt;
        tripNanos += tripNanos == 0 ? trip : (trip - tripNanos) / AVERAGED;
        if (wasAnswered && questionSentAt - sentAt < 0) {
            return;
        }
        wasAnswered = true;
        isUnawaited = !isAwaited;
        sentAt = questionSentAt;
        // After a single slow answer the average is no measure of the next one.
        long usual = Math.min(tripNanos, 2 * trip);
        nanos = Math.max(Math.max(MIN_NANOS, usual + usual / 2), trip + PAUSE_NANOS);
    }
}
