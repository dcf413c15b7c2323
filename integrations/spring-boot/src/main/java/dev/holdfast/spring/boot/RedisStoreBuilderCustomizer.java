package dev.holdfast.spring.boot;

import dev.holdfast.store.redis.RedisStore;

/**
 * A bean that changes settings of the auto-configured store on Redis, after the properties. Several beans are called in
 * their order.
 */
@FunctionalInterface
// Its users have the module of the store. If that were transitive, all others would need it to compile.
@SuppressWarnings("exports")
public interface RedisStoreBuilderCustomizer {

    /** Changes settings of the store that is about to be opened. */
    void customize(RedisStore.Builder builder);
}
