package dev.holdfast;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Others kept the lock for all of the maximum wait. The caller holds nothing, and its claim is withdrawn.
 *
 * <p>The message names the holder if one inspection after the wait returns it in time. It is omitted if the store is
 * slow, because the exception must not be later than the contract of the call allows.
 */
public final class LockWaitTimeoutException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private static final String OTHERS = "others hold it or are ahead in the queue";

    private final Duration waited;
    private final String reason;
    private final LockInfo.@Nullable Holder holder;

    /** For the engine. */
    public LockWaitTimeoutException(String resource, String store, Duration waited) {
        this(resource, store, waited, OTHERS);
    }

    /** For the engine, with the store's description of the others. */
    public LockWaitTimeoutException(String resource, String store, Duration waited, String reason) {
        this(resource, store, waited, reason, null);
    }

    /** For the engine, with the holder. */
    public LockWaitTimeoutException(
            String resource, String store, Duration waited, String reason, LockInfo.@Nullable Holder holder) {
        super(
                "Lock '" + resource + "' was not granted within " + DurationFormat.format(waited) + ": " + reason
                        + " (store " + store
                        + "). Wait longer, skip the work with tryAcquire, or look at the holder with 'holdfast show "
                        + resource + "'.",
                resource,
                store,
                null);
        this.waited = waited;
        this.reason = reason;
        this.holder = holder;
    }

    /** The holder when the wait ended, of several the oldest; empty if the store did not report it in time. */
    public Optional<LockInfo.Holder> holder() {
        return Optional.ofNullable(holder);
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
