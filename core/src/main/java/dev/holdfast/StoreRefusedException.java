package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The store will not serve this client until a person acts: credentials, permissions, a full disk, another schema, or
 * damaged data, which was not overwritten.
 */
public final class StoreRefusedException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public StoreRefusedException(String message, String resource, String store, @Nullable Throwable cause) {
        super(message, resource, store, cause);
    }
}
