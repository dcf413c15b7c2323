package dev.holdfast.spring.boot;

import dev.holdfast.store.etcd.EtcdStore;

/**
 * A bean that changes settings of the auto-configured store on etcd, after the properties. Several beans are called in
 * their order.
 */
@FunctionalInterface
// Its users have the module of the store. If that were transitive, all others would need it to compile.
@SuppressWarnings("exports")
public interface EtcdStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(EtcdStore.Builder builder);
}
