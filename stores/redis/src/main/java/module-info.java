/** Locks on Redis. */
// The driver is a module by its name only.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.holdfast.store.redis {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive lettuce.core;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.resolver;
    // The driver uses it and, as an automatic module, can't require it.
    requires io.netty.resolver.dns;
    requires io.netty.transport;
    requires reactor.core;
    requires org.slf4j;

    exports dev.holdfast.store.redis;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.redis.RedisStoreProvider;
}
