package dev.holdfast.spring.boot;

import dev.holdfast.store.zookeeper.ZooKeeperStore;

/**
 * A bean that changes settings of the auto-configured store on ZooKeeper, after the properties. Several beans are
 * called in their order.
 */
@FunctionalInterface
// The store is not in a module.
@SuppressWarnings("exports")
public interface ZooKeeperStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(ZooKeeperStore.Builder builder);
}
