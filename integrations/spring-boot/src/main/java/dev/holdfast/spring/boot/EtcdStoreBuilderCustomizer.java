package dev.holdfast.spring.boot;

import dev.holdfast.store.etcd.EtcdStore;

/**
 * A bean that has a say in the auto-configured store on etcd, after the properties. Several are called in their order.
 */
@FunctionalInterface
public interface EtcdStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(EtcdStore.Builder builder);
}
