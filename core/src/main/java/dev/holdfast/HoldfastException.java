package dev.holdfast;

import dev.holdfast.spi.ResourceName;
import org.jspecify.annotations.Nullable;

/**
 * The superclass of exceptions about locks that could not be acquired or kept. Each message says what happened, to
 * which lock, on which store, and what to do.
 */
public abstract class HoldfastException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String resource;
    private final String store;

    /**
     * For the engine and for stores.
     *
     * @param resource the name of the lock; empty if there is none
     * @param store the store, for people
     */
    protected HoldfastException(String message, String resource, String store, @Nullable Throwable cause) {
        super(ResourceName.printable(message), cause);
        this.resource = resource;
        this.store = store;
    }

    /** The name of the lock; empty where the failure concerns the whole client. */
    public String resource() {
        return resource;
    }

    /** The store, for people. */
    public String store() {
        return store;
    }
}
