package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import java.util.Set;
import java.util.function.Function;

/**
 * Opens lock stores by URIs of some schemes, with properties for which a URI has no parameters.
 *
 * @param schemes the schemes of the URIs
 * @param opening opens the store that a URI names
 */
record StoreUriOpener(Set<String> schemes, Function<StoreUri, LockStore> opening) {

    LockStore open(StoreUri uri) {
        return opening.apply(uri);
    }
}
