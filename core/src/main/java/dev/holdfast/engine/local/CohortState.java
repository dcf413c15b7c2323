package dev.holdfast.engine.local;

import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** What a grant needs only once it is passed on within the process. Guarded by the lock of its resource. */
final class CohortState {

    /** When the budget is spent, in elapsed nanoseconds. */
    long ends;

    /** Whether someone waited at the store when it was last asked. */
    boolean awaited;

    /** A question about waiters is on its way. */
    boolean asking;

    /** A request for more tokens is on its way. */
    boolean advancing;

    /** When tokens were last asked for, and how many. */
    private long askedAt;

    private int asked;

    /** The last block was smaller than what was asked for: the store's clock gives the rest only in time. */
    private boolean isScarce;

    /** The store gives this grant no more tokens. */
    boolean isLast;

    /** The next block, once the present one is spent. */
    @Nullable
    TokenBlock spare;

    /** How many tokens were used under this grant. */
    int used;

    CohortState(long ends, boolean awaited) {
        this.ends = ends;
        this.awaited = awaited;
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

    /** Notes how many came of it. */
    void got(long tokens) {
        isScarce = tokens < asked;
    }

    /** For how long to leave the store alone, if it is asked once in such a time where tokens are scarce. */
    long patience(long now, long pace) {
        return isScarce ? Math.max(0, askedAt + pace - now) : 0;
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
