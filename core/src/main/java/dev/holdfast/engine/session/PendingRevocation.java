package dev.holdfast.engine.session;

/**
 * What signals have said against a belief: it is in doubt until the store has answered a question that was asked after
 * the newest of them. Thread-safe.
 */
public final class PendingRevocation {

    // Written under the lock of this object, read by anyone.
    private volatile long heard;
    private volatile long settled;

    /** A signal speaks against it. */
    public synchronized void hear() {
        heard = heard + 1;
    }

    /** How much was heard so far: to be noted before the store is asked. */
    public long heard() {
        return heard;
    }

    /** The store has confirmed the belief, asked when so much had been heard. */
    public synchronized void settle(long heardWhenAsked) {
        settled = Math.max(settled, heardWhenAsked);
    }

    public boolean isOpen() {
        return settled != heard;
    }
}
