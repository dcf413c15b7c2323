package dev.holdfast.store.zookeeper;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.util.Set;

/**
 * Opens {@code zookeeper://[user:password@]host[:port][,host[:port]…][/chroot]}, and the same over TLS as {@code
 * zookeepers://}. User and password are those of the
 * scheme {@code digest}, percent-encoded; an address of IPv6 stands in brackets. The manual lists the parameters.
 */
public final class ZooKeeperStoreProvider implements StoreProvider {

    /** For {@link java.util.ServiceLoader}. */
    public ZooKeeperStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        return ZooKeeperUris.builder(uri).open();
    }
}
