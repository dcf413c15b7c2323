package dev.holdfast.spring.boot;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import java.util.function.Supplier;

/** Opens a store and says which one it was if that fails. */
final class StoreOpening {

    private StoreOpening() {}

    /**
     * Opens a store.
     *
     * @param place what it is opened on, for people, without credentials
     * @throws StoreUnavailableException if it does not answer
     * @throws StoreRefusedException if it can't be used
     * @throws HoldfastConfigurationException if the properties don't fit it
     */
    static LockStore of(String place, Supplier<LockStore> opening) {
        try {
            return opening.get();
        } catch (StoreException e) {
            String message = "The lock store on " + place + " could not be opened: " + e.getMessage();
            throw e.reason() == StoreException.Reason.UNAVAILABLE
                    ? new StoreUnavailableException(message, "", place, e)
                    : new StoreRefusedException(message, "", place, e);
        } catch (IllegalArgumentException e) {
            throw new HoldfastConfigurationException(
                    "The lock store on " + place + " can't be configured: " + e.getMessage(),
                    "Correct the properties under 'holdfast'.",
                    e);
        }
    }
}
