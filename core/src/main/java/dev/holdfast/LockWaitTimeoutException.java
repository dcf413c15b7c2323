package dev.holdfast;

import java.time.Duration;

/** Others kept the lock for all of the maximum wait. The caller holds nothing, and its claim is withdrawn. */
public final class LockWaitTimeoutException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private static final String OTHERS = "others hold it or wait before this caller";

    private final Duration waited;
    private final String reason;

    /** For the engine. */
    public LockWaitTimeoutException(String resource, String store, Duration waited) {
        this(resource, store, waited, OTHERS);
    }

    /** For the engine, where the store has said who they are. */
    public LockWaitTimeoutException(String resource, String store, Duration waited, String reason) {
        super(
                "Lock '" + resource + "' was not granted within " + waited + ": " + reason + " (store " + store
                        + "). Wait longer, skip the work with tryAcquire, or look at the holder with 'holdfast show "
                        + resource + "'.",
                resource,
                store,
                null);
        this.waited = waited;
        this.reason = reason;
    }

    /** Who holds the lock or waits for it, as far as that is known; for people. */
    public String reason() {
        return reason;
    }

    /** The maximum wait. */
    public Duration waited() {
        return waited;
    }
}
