package dev.holdfast.engine;

import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** What a grant needs only once it is passed on within the process. Guarded by the lock of its gate. */
final class Cohort {

    /** When the budget is spent, in elapsed nanoseconds. */
    long ends;

    /** Whether someone waited at the store when it was last asked. */
    boolean awaited;

    /** A question about waiters is on its way. */
    boolean asking;

    /** A request for more tokens is on its way. */
    boolean advancing;

    /** The store gives this grant no more tokens. */
    boolean isLast;

    /** The next block, once the present one is spent. */
    @Nullable
    TokenBlock spare;

    /** How many tokens were used under this grant. */
    int used;

    Cohort(long ends, boolean awaited) {
        this.ends = ends;
        this.awaited = awaited;
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
