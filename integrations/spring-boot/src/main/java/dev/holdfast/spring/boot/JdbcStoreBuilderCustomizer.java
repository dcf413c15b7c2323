package dev.holdfast.spring.boot;

import dev.holdfast.store.jdbc.JdbcStore;

/**
 * A bean that has a say in the auto-configured store on a database, after the properties. Several are called in their
 * order.
 */
@FunctionalInterface
// Who uses it has the module of the store; if that were transitive, all others would need it to compile.
@SuppressWarnings("exports")
public interface JdbcStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(JdbcStore.Builder builder);
}
