package dev.holdfast.spi;

import java.util.Set;

/**
 * Opens stores by URI; found by {@link java.util.ServiceLoader}. Providers have a public constructor without arguments and no state.
 */
public interface StoreProvider {

    /** The URI schemes that this provider serves, in lower case. */
    Set<String> schemes();

    /**
     * Opens a store.
     *
     * <p><b>Blocking:</b> may do I/O for as long as the connect time-out of the store.
     *
     * @throws IllegalArgumentException if the URI is not of the store's form, or has a parameter that the store does not know; nothing was touched
     * @throws StoreException if the store can't be used: not reachable, wrong credentials, not writable, something else in its place
     */
    LockStore open(StoreUri uri);
}
