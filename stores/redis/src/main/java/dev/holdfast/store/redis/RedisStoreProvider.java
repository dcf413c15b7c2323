package dev.holdfast.store.redis;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.redis.connection.DriverVersion;
import java.util.Set;

/**
 * Opens {@code redis://[[user]:password@]host[:port][/database]}, the same over TLS as {@code rediss://}, and
 * {@code redis-sentinel://[[user]:password@]host[:port][,host[:port]…][/database]?master=NAME}, the primary that these
 * Sentinels call by this name, over TLS as {@code rediss-sentinel://}; and
 * {@code redis-cluster://[[user]:password@]host[:port][,host[:port]…]}, the cluster of these nodes, over TLS as
 * {@code rediss-cluster://}. User and password are those of the servers, percent-encoded; an address of IPv6 stands in
 * brackets. The manual lists the parameters.
 */
public final class RedisStoreProvider implements StoreProvider {

    /** For {@link java.util.ServiceLoader}. */
    public RedisStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        DriverVersion.require();
        return RedisUris.builder(uri).open();
    }
}
