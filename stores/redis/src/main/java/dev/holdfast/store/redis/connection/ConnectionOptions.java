package dev.holdfast.store.redis.connection;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options for one store's connections.
 *
 * @param client a client of the program, whose options and threads are used
 * @param resources threads of the program
 * @param tls null for those of the client, or the driver's default
 * @param connectTimeout how long it may take until a connection is usable
 * @param isCluster whether many pipelines share a connection
 * @param between wraps connections before the store uses them
 */
public record ConnectionOptions(
        @Nullable AbstractRedisClient client,
        @Nullable ClientResources resources,
        @Nullable SslOptions tls,
        Duration connectTimeout,
        boolean isCluster,
        ConnectionFactory.Between between) {}
