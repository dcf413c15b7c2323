package dev.holdfast.spring.boot;

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
     */
    static LockStore of(String place, Supplier<LockStore> opening) {
        try {
            return opening.get();
        } catch (StoreException e) {
            throw new StoreOpeningException(place, e);
        } catch (IllegalArgumentException e) {
            throw new HoldfastConfigurationException(
                    "The lock store on " + place + " can't be set up: " + e.getMessage(),
                    "Correct the properties under 'holdfast'.",
                    e);
        }
    }
}
