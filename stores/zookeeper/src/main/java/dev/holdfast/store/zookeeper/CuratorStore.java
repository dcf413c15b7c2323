package dev.holdfast.store.zookeeper;

import dev.holdfast.store.zookeeper.client.CuratorHandle;
import java.util.Objects;
import org.apache.curator.framework.CuratorFramework;

/** The entry for programs that have a client of Curator's; apart, since others do without Curator's classes. */
public final class CuratorStore {

    private CuratorStore() {}

    /**
     * Begins to set up a store on the connection that a program has already. The client is never closed here. Its
     * retries and its namespace have no effect on the store, nor do its ideas on when a connection is lost: deadlines
     * come from writes that were acknowledged.
     *
     * <p>The time-out of its session bounds the ttl of the store's, as of {@link
     * ZooKeeperStore.Builder#sessionTimeout}.
     *
     * @param client one that was started, without a chroot unless the locks are to be below it
     */
    public static ZooKeeperStore.Builder builder(CuratorFramework client) {
        return ZooKeeperStore.lent(new CuratorHandle(Objects.requireNonNull(client)));
    }
}
