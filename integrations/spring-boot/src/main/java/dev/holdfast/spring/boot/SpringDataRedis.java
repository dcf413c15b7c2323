package dev.holdfast.spring.boot;

import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.RedisURI;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Sets up stores where a connection factory of Spring Data leads, with its credentials and TLS settings and with the
 * threads of its client. The connections are the store's own.
 */
final class SpringDataRedis {

    /** The field in which a factory keeps its configuration; a native image must include it. */
    private static final String CONFIGURATION_FIELD = "configuration";

    private SpringDataRedis() {}

    /** Sets up a store where a connection factory leads. */
    static RedisStore.Builder builder(LettuceConnectionFactory connection) {
        RedisStore.Builder builder = place(connection);
        // Factories start before other beans are created, apart from those that are set to start late.
        if (!connection.isRunning()) {
            connection.start();
        }
        return builder.client(connection.getRequiredNativeClient());
    }

    private static RedisStore.Builder place(LettuceConnectionFactory connection) {
        LettuceClientConfiguration client = connection.getClientConfiguration();
        RedisConfiguration configuration = configuration(connection);
        if (configuration instanceof RedisClusterConfiguration cluster) {
            return RedisStore.clusterBuilder(nodes(cluster, client));
        } else if (configuration instanceof RedisSentinelConfiguration sentinel) {
            return RedisStore.builder(sentinels(sentinel, client));
        } else if (configuration instanceof RedisStandaloneConfiguration standalone) {
            return RedisStore.builder(server(standalone, client));
        } else if (configuration instanceof RedisStaticMasterReplicaConfiguration) {
            throw new IllegalArgumentException("it connects to a fixed list of a master and its replicas "
                    + "('spring.data.redis.masterreplica.nodes'), and a lock store can't follow a fail-over "
                    + "between them; use Sentinels or a cluster, or set 'holdfast.store' to the URI of the "
                    + "master");
        } else if (configuration instanceof RedisSocketConfiguration) {
            throw new IllegalArgumentException(
                    "it connects through a Unix domain socket, but a lock store on Redis needs TCP; set "
                            + "'holdfast.store' to a URI such as 'redis://localhost'");
        }
        throw new IllegalArgumentException(
                "it has a " + configuration.getClass().getName()
                        + ", but a lock store needs Spring Data's configuration of a server, of Sentinels or "
                        + "of a cluster; alternatively, set 'holdfast.store' to a URI");
    }

    /*
     * The public getters are not enough: for a master and replicas, a socket, and any configuration that was passed as
     * a RedisConfiguration, the one for a single server returns localhost. Processes that each found a Redis there
     * would not exclude each other.
     */
    private static RedisConfiguration configuration(LettuceConnectionFactory connection) {
        Field field = ReflectionUtils.findField(
                LettuceConnectionFactory.class, CONFIGURATION_FIELD, RedisConfiguration.class);
        if (field != null && field.trySetAccessible()) {
            return (RedisConfiguration) Objects.requireNonNull(ReflectionUtils.getField(field, connection));
        }
        throw new IllegalArgumentException(
                "this version of Spring Data Redis does not reveal which server it connects to; set "
                        + "'holdfast.store' to a URI such as 'redis://localhost'");
    }

    private static RedisURI server(RedisStandaloneConfiguration server, LettuceClientConfiguration client) {
        RedisURI.Builder uri = RedisURI.builder()
                .withHost(server.getHostName())
                .withPort(server.getPort())
                .withDatabase(server.getDatabase());
        return complete(uri, server, server.getUsername(), server.getPassword(), client);
    }

    private static List<RedisURI> nodes(RedisClusterConfiguration cluster, LettuceClientConfiguration client) {
        return nodes(cluster.getClusterNodes().stream())
                .map(uri -> complete(uri, cluster, cluster.getUsername(), cluster.getPassword(), client))
                .toList();
    }

    private static RedisURI sentinels(RedisSentinelConfiguration sentinel, LettuceClientConfiguration client) {
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
