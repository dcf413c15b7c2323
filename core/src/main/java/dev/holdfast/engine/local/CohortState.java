package dev.holdfast.engine.local;

import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** What a grant needs only once it is passed on within the process. Guarded by the lock of its resource. */
final class CohortState {

    /** When the budget is spent, in elapsed nanoseconds. */
    private long ends;

    /** Whether someone waited at the store when it was last asked. */
    private boolean awaited;

    /** A question about waiters is on its way. */
    private boolean asking;

    /** A request for more tokens is on its way. */
    private boolean advancing;

    /** When tokens were last asked for, and how many. */
    private long askedAt;

    private int asked;

    /** The last block was smaller than what was asked for: the store's clock gives the rest only in time. */
    private boolean isScarce;

    /** The store gives this grant no more tokens. */
    private boolean isLast;

    /** The next block, once the present one is spent. */
    @Nullable
    TokenBlock spare;

    /** How many tokens were used under this grant. */
    int used;

    CohortState(long ends, boolean awaited) {
        this.ends = ends;
        this.awaited = awaited;
    }

    /** Whether the budget is spent, and others wait at the store. */
    boolean isSpent(ElapsedClock clock) {
        return awaited && clock.now() - ends >= 0;
    }

    boolean isAdvancing() {
        return advancing;
    }

    /** Whether the store gives this grant no more tokens. */
    boolean isLast() {
        return isLast;
    }

    /** A request for more tokens was answered. */
    void endAdvance(boolean wasLast) {
        advancing = false;
        isLast |= wasLast;
    }

    /** A token is used; more than can be counted are as good as that many. */
    void use() {
        if (used < Integer.MAX_VALUE) {
            used++;
        }
    }

    /** Notes that so many tokens are asked for. */
    void ask(int tokens, long at) {
        advancing = true;
        asked = tokens;
        askedAt = at;
    }

    /** Notes how many came of it, and whether someone waits at the store. */
    void got(long tokens, boolean isAwaited) {
        isScarce = tokens < asked;
        awaited = isAwaited;
    }

    /** For how long to leave the store alone, if it is asked once in such a time where tokens are scarce. */
    long patience(long now, long pace) {
        return isScarce ? Math.max(0, askedAt + pace - now) : 0;
    }

    /**
     * Notes a question whether someone waits, if it is due: the budget is spent, and nobody is known to wait.
     *
     * @return whether it is to be asked now
     */
    boolean askIfDue(long now) {
        boolean isDue = now - ends >= 0 && !awaited && !asking;
        asking |= isDue;
        return isDue;
    }

    /** The question has no answer. */
    void askFailed() {
        asking = false;
    }

    /** Takes the answer to the question whether someone waits: if nobody does, the budget begins anew. */
    void answer(boolean isAwaited, long endsAnew) {
        asking = false;
        awaited = isAwaited;
        if (!isAwaited) {
            ends = endsAnew;
        }
    }
}
