package dev.holdfast.engine.session;

/**
 * The requests that a claim serves if it is a pass: those that waited here while it waited at the store. Others may
 * have come after the latch was set again. With strict order, the batch of a claim: those that waited here when it was
 * sent, and that its grant serves before others have their turn. Guarded by the lock of the resource.
 */
public final class PassCoverage {

    /** The number of the newest request that it serves. */
    private long newestServed;

    /** A poll is in flight that may let it serve more requests; until it is answered, a pass is kept for them. */
    private boolean isPolling;

    /** How often in a row such a poll has failed. */
    private int failures;

    public PassCoverage(long newestRequest) {
        this.newestServed = newestRequest;
    }

    /** Whether a request of this number waited here while the claim waited at the store. */
    boolean includes(long number) {
        return number <= newestServed;
    }

    boolean isPolling() {
        return isPolling;
    }

    /**
     * A poll begins that may let it serve more requests.
     *
     * @return false if one is in flight
     */
    public boolean beginPoll() {
        boolean isFirst = !isPolling;
        isPolling = true;
        return isFirst;
    }

    /** The poll has shown that the claim was waiting at the store while these requests waited here. */
    void extendTo(long newestRequest) {
        newestServed = Math.max(newestServed, newestRequest);
    }

    /** The poll is answered. */
    void endPoll() {
        isPolling = false;
        failures = 0;
    }

    /** The poll will be repeated. */
    void repeatPoll() {
        isPolling = false;
    }

    /** Counts a failed poll; returns how many failed before it. */
    int countFailure() {
        return failures++;
    }
}
