package dev.holdfast.store.zookeeper;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreDescription;
import dev.holdfast.spi.StoreDescription.Scheme;
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
    public StoreDescription description() {
        return StoreDescription.of(
                        "dev.holdfast:holdfast-zookeeper",
                        Scheme.of(ZooKeeperUris.PLAIN)
                                .port(2181)
                                .otherNames("zk")
                                .images("zookeeper", "bitnami/zookeeper"),
                        Scheme.of(ZooKeeperUris.SECURE))
                .connectionType("org.apache.curator.framework.CuratorFramework");
    }

    @Override
    public LockStore open(StoreUri uri) {
        return ZooKeeperUris.builder(uri).open();
    }
}
