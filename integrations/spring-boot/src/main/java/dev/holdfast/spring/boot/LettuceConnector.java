package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Opens stores where a connection factory of Spring Data leads to, with its credentials and TLS settings and with the
 * threads of its client, on connections of the store's own.
 */
final class LettuceConnector implements StoreConnector<LettuceConnectionFactory> {

    private final HoldfastProperties properties;
    private final ObjectProvider<RedisStoreBuilderCustomizer> customizers;

    LettuceConnector(HoldfastProperties properties, ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
        this.properties = properties;
        this.customizers = customizers;
    }

    @Override
    public Class<LettuceConnectionFactory> type() {
        return LettuceConnectionFactory.class;
    }

    @Override
    public LockStore open(LettuceConnectionFactory connection) {
        RedisStore.Builder builder = builder(connection);
        // Factories start before other beans are made, but not one that is told to start late.
        if (!connection.isRunning()) {
            connection.start();
        }
        builder.client(connection.getRequiredNativeClient());
        return RedisStoreConfiguration.open(builder, properties, customizers);
    }

    private static RedisStore.Builder builder(LettuceConnectionFactory connection) {
        LettuceClientConfiguration client = connection.getClientConfiguration();
        RedisClusterConfiguration cluster = connection.getClusterConfiguration();
        RedisSentinelConfiguration sentinel = connection.getSentinelConfiguration();
        if (cluster != null) {
            return RedisStore.clusterBuilder(nodes(cluster, client));
        } else if (sentinel != null) {
            return RedisStore.builder(sentinels(sentinel, client));
        }
        return RedisStore.builder(server(connection.getStandaloneConfiguration(), client));
    }

    static RedisURI server(RedisStandaloneConfiguration server, LettuceClientConfiguration client) {
        RedisURI.Builder uri = RedisURI.builder()
                .withHost(server.getHostName())
                .withPort(server.getPort())
                .withDatabase(server.getDatabase());
        return complete(uri, server, server.getUsername(), server.getPassword(), client);
    }

    static List<RedisURI> nodes(RedisClusterConfiguration cluster, LettuceClientConfiguration client) {
        return nodes(cluster.getClusterNodes().stream())
                .map(uri -> complete(uri, cluster, cluster.getUsername(), cluster.getPassword(), client))
                .toList();
    }

    static RedisURI sentinels(RedisSentinelConfiguration sentinel, LettuceClientConfiguration client) {
        RedisURI.Builder uri = RedisURI.builder().withDatabase(sentinel.getDatabase());
        nodes(sentinel.getSentinels().stream())
                .map(node -> {
                    authenticate(node, sentinel.getSentinelUsername(), sentinel.getSentinelPassword());
                    secure(node, client);
                    return node.build();
                })
                .forEach(uri::withSentinel);
        if (sentinel.getMaster() != null) {
            uri.withSentinelMasterId(String.valueOf(sentinel.getMaster().getName()));
        }
        return complete(uri, sentinel, sentinel.getUsername(), sentinel.getPassword(), client);
    }

    private static Stream<RedisURI.Builder> nodes(Stream<RedisNode> nodes) {
        return nodes.map(node ->
                RedisURI.builder().withHost(String.valueOf(node.getHost())).withPort(node.getRequiredPort()));
    }

    private static RedisURI complete(
            RedisURI.Builder uri,
            RedisConfiguration configuration,
            @Nullable String user,
            RedisPassword password,
            LettuceClientConfiguration client) {
        authenticate(uri, user, password);
        client.getRedisCredentialsProviderFactory()
                .map(factory -> factory.createCredentialsProvider(configuration))
                .ifPresent(uri::withAuthentication);
        secure(uri, client);
        return uri.build();
    }

    private static void authenticate(RedisURI.Builder uri, @Nullable String user, RedisPassword password) {
        if (user != null && !user.isEmpty()) {
            uri.withAuthentication(user, password.toOptional().orElse(new char[0]));
        } else {
            password.toOptional().ifPresent(uri::withPassword);
        }
    }

    private static void secure(RedisURI.Builder uri, LettuceClientConfiguration client) {
        uri.withSsl(client.isUseSsl());
        uri.withVerifyPeer(client.getVerifyMode());
        uri.withStartTls(client.isStartTls());
    }
}
