package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The store did not answer in time. An acquisition may have been granted; such a grant is withdrawn, or ends with the
 * session at the latest. This does not mean "taken by another", and another attempt may succeed.
 */
public final class StoreUnavailableException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public StoreUnavailableException(String message, String resource, String store, @Nullable Throwable cause) {
        super(message, resource, store, cause);
    }
}
