package dev.holdfast.engine.session;

/**
 * Signals that a session or a grant was revoked. It is in doubt until the store has answered a question that was asked
 * after the newest of them. Thread-safe.
 */
public final class PendingRevocation {

    // Written under the lock of this object, read by anyone.
    private volatile long count;
    private volatile long settled;

    /** A signal says that it was revoked. */
    public synchronized void add() {
        count = count + 1;
    }

    /** How many signals there were: to be noted before the store is asked. */
    public long count() {
        return count;
    }

    /** The store has confirmed it, asked after so many signals. */
    public synchronized void settle(long countWhenAsked) {
        settled = Math.max(settled, countWhenAsked);
    }

    public boolean isOpen() {
        return settled != count;
    }
}
