package dev.holdfast.store.redis;

import dev.holdfast.servers.RedisCluster;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import java.util.List;

/** A cluster of six nodes for the tests of a store. */
final class TestCluster {

    private static final class Shared {
        private static final RedisCluster CLUSTER = RedisCluster.start();
        private static final StatefulRedisClusterConnection<String, String> CONNECTION = RedisClusterClient.create(
                        RedisUnderTest.RESOURCES, nodes(CLUSTER))
                .connect();
    }

    private TestCluster() {}

    /** One cluster for all tests in this JVM that don't damage it; each uses its own namespace. */
    static RedisCluster shared() {
        return Shared.CLUSTER;
    }

    /** A connection to it, for what is done by hand. */
    static StatefulRedisClusterConnection<String, String> hand() {
        return Shared.CONNECTION;
    }

    static List<RedisURI> nodes(RedisCluster cluster) {
        return cluster.primaries().stream()
                .map(node -> RedisURI.create("127.0.0.1", node.port()))
                .toList();
    }

    static RedisStore.Builder builder(RedisCluster cluster) {
        return TestServer.patient(RedisStore.clusterBuilder(nodes(cluster)));
    }
}
