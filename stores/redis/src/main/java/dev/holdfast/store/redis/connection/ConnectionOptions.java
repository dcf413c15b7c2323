package dev.holdfast.store.redis.connection;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options of the connections of one store.
 *
 * @param client a client of the program's, whose options and threads are used
 * @param resources threads of the program's
 * @param tls null for that of the client, or the driver's default
 * @param connectTimeout how long it may take until a connection can be used
 * @param isCluster whether many pipelines share a connection
 * @param between what stands between the store and its connections
 */
public record ConnectionOptions(
        @Nullable AbstractRedisClient client,
        @Nullable ClientResources resources,
        @Nullable SslOptions tls,
        Duration connectTimeout,
        boolean isCluster,
        ConnectionFactory.Between between) {}
