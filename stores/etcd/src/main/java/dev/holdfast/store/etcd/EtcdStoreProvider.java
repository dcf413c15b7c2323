package dev.holdfast.store.etcd;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.util.Set;

/**
 * Opens {@code etcd://[user:password@]host[:port][,host[:port]…][/namespace]}, and the same over TLS as {@code
 * etcds://}. User and password are percent-encoded; an IPv6 address is in brackets. The manual lists the parameters.
 */
public final class EtcdStoreProvider implements StoreProvider {

    /** Called by the service loader. */
    public EtcdStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        return EtcdUris.builder(uri).open();
    }
}
