package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;

/** Opens lock stores by URIs of some schemes, with properties that no URI has room for. */
interface StoreUriOpener {

    /** Whether URIs of this scheme are opened here. */
    boolean serves(String scheme);

    /** Opens the store that a URI names. */
    LockStore open(StoreUri uri);
}
