package dev.holdfast;

import java.time.Duration;

/** Others kept the lock for all of the maximum wait. The caller holds nothing, and its claim is withdrawn. */
public final class LockWaitTimeoutException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final Duration waited;

    /** For the engine. */
    public LockWaitTimeoutException(String resource, String store, Duration waited) {
        super(
                "Lock '" + resource + "' was not granted within " + waited
                        + ": others hold it or wait before this caller (store " + store
                        + "). Wait longer, skip the work with tryAcquire, or look at the holder with 'holdfast show "
                        + resource + "'.",
                resource,
                store,
                null);
        this.waited = waited;
    }

    /** The maximum wait. */
    public Duration waited() {
        return waited;
    }
}
