package dev.holdfast.spring.boot;

import dev.holdfast.store.zookeeper.ZooKeeperStore;

/**
 * A bean that has a say in the auto-configured store on ZooKeeper, after the properties. Several are called in their
 * order.
 */
@FunctionalInterface
// The store is of no module.
@SuppressWarnings("exports")
public interface ZooKeeperStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(ZooKeeperStore.Builder builder);
}
