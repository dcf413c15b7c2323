package dev.holdfast.engine.local;

import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** What a grant needs only once it is handed over within the process. Guarded by the lock of its resource. */
final class CohortState {

    /** The smallest block that is requested once a lock is handed over locally. */
    private static final int MIN_BLOCK = 32;

    /**
     * The budget has begun: with the first release under the grant. If it began with the grant, a thread that is late
     * to run on a busy machine would spend it all in one hold.
     */
    private boolean hasBegun;

    /** When the budget is spent, in elapsed nanoseconds. */
    private long ends;

    /** Whether others waited at the store when it was last asked. */
    private boolean awaited;

    /** A question about waiters is in flight. */
    private boolean asking;

    /** A request for more tokens is in flight. */
    private boolean advancing;

    /** When tokens were last asked for, and how many. */
    private long askedAt;

    private int asked;

    /** The last block was smaller than requested: the store's clock gives only so many tokens a second. */
    private boolean isScarce;

    /** The store gives this grant no more tokens. */
    private boolean isLast;

    /** The next block, once the present one is spent. */
    @Nullable
    TokenBlock spare;

    /** How many tokens were used under this grant. */
    int used;

    /** With strict order, when the grant may be handed over. An answer of the store counts for this grant only. */
    final HandOverWindow window = new HandOverWindow();

    CohortState(boolean awaited) {
        this.awaited = awaited;
    }

    /** The budget begins, unless it has begun. */
    void begin(long budgetEnds) {
        if (!hasBegun) {
            hasBegun = true;
            ends = budgetEnds;
        }
    }

    boolean hasBegun() {
        return hasBegun;
    }

    /** Whether the budget is spent, and others wait at the store. */
    boolean isSpent(ElapsedClock clock) {
        return awaited && endsWithin(0, clock.now());
    }

    /** Whether others wait at the store, and at most this much of the budget is left. */
    boolean endsWithin(long nanos, long now) {
        return awaited && hasBegun && now + nanos - ends >= 0;
    }

    /** Whether others waited at the store when it was last asked. */
    boolean isAwaited() {
        return awaited;
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

    /** Counts a used token, up to the largest number. */
    void use() {
        if (used < Integer.MAX_VALUE) {
            used++;
        }
    }

    /** Notes a request for tokens. */
    void ask(int tokens, long at) {
        advancing = true;
        asked = tokens;
        askedAt = at;
    }

    /** Notes how many tokens came, and whether others wait at the store. */
    void got(long tokens, boolean isAwaited) {
        isScarce = tokens < asked;
        awaited = isAwaited;
    }

    /** The pause before the next request for tokens: none, or until an interval has passed if tokens are scarce. */
    long pauseNanos(long now, long interval) {
        return isScarce ? Math.max(0, askedAt + interval - now) : 0;
    }

    /**
     * Notes the question whether others wait, if it is due: at most this much of the budget is left, and none are known
     * to wait.
     *
     * @return whether to ask now
     */
    boolean askIfDue(long now, long leadNanos) {
        boolean isDue = hasBegun && now + leadNanos - ends >= 0 && !awaited && !asking;
        asking |= isDue;
        return isDue;
    }

    /** The size of the next block to request, after this many tokens were used. */
    static int blockAfter(int used) {
        return (int) Math.min(TokenBlock.MAX_SIZE, Math.max(MIN_BLOCK, 2L * used));
    }

    /** The question has no answer. */
    void askFailed() {
        asking = false;
    }

    /** Takes the answer to the question whether others wait: if none do, the budget starts again. */
    void answer(boolean isAwaited, long endsAnew) {
        asking = false;
        awaited = isAwaited;
        if (!isAwaited) {
            ends = endsAnew;
        }
    }
}
