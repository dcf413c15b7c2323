package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.RedisSentinels;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.SlowMachine;
import dev.holdfast.testkit.SilentConnections;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Connections to Redis that go silent, while new ones work, cost no hold")
@Tag("C19")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SilentConnectionsTest {

    /** A way through proxies to all servers of a kind. */
    private static final class Network implements AutoCloseable {
        private final Map<Integer, FaultProxy> proxies = new ConcurrentHashMap<>();
        private final ClientResources resources = RedisUnderTest.RESOURCES
                .mutate()
                .socketAddressResolver(new SocketAddressResolver(DnsResolvers.UNRESOLVED) {
                    @Override
                    public SocketAddress resolve(RedisURI uri) {
                        return new InetSocketAddress("127.0.0.1", throughTo(uri.getPort()));
                    }
                })
                .build();

        int throughTo(int port) {
            return proxies.computeIfAbsent(port, FaultProxy::to).port();
        }

        void silence() {
            proxies.values().forEach(FaultProxy::silence);
        }

        long silent() {
            return proxies.values().stream().mapToLong(FaultProxy::silent).sum();
        }

        @Override
        public void close() {
            proxies.values().forEach(FaultProxy::close);
        }
    }

    /** With the usual time-out, longer by a factor. */
    private static Holdfast client(RedisStore store, Duration ttl, int factor) {
        return Holdfast.builder(store)
                .sessionTtl(ttl)
                .storeTimeout(Duration.ofSeconds(10L * factor))
                .build();
    }

    private static void lasts(Holdfast client, Holdfast other, Duration ttl, Network network) throws Exception {
        SilentConnections.outlast(client, other, ttl, network::silence, network::silent);
    }

    private static void lasts(Supplier<RedisStore.Builder> servers, int factor) throws Exception {
        Duration ttl = Duration.ofSeconds(2L * factor);
        String namespace = "silent" + factor;
        try (Network network = new Network();
                RedisStore store = servers.get()
                        .namespace(namespace)
                        .resources(network.resources)
                        .commandTimeout(Duration.ofSeconds(5L * factor))
                        .open();
                Holdfast client = client(store, ttl, factor);
                RedisStore direct =
                        TestServer.patient(servers.get()).namespace(namespace).open();
                Holdfast other = client(direct, Duration.ofMinutes(1), factor)) {
            lasts(client, other, ttl, network);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT1.5S", "PT2S", "PT6S"})
    void oneServer(String text) throws Exception {
        TestServer server = TestServer.shared();
        SlowMachine.copes(Duration.parse(text), factor -> {
            Duration ttl = Duration.parse(text).multipliedBy(factor);
            String namespace = "silent-" + text + factor;
            try (Network network = new Network();
                    RedisStore store = RedisStore.builder(server.uri())
                            .namespace(namespace)
                            .resources(network.resources)
                            .commandTimeout(Duration.ofSeconds(5L * factor))
                            .open();
                    Holdfast client = client(store, ttl, factor);
                    RedisStore direct = server.builder().namespace(namespace).open();
                    Holdfast other = client(direct, Duration.ofMinutes(1), factor)) {
                lasts(client, other, ttl, network);
                until("silent connections are left", () -> network.silent() == 0);
            }
        });
    }

    @Test
    void sentinels() throws Exception {
        try (RedisSentinels all = RedisSentinels.start()) {
            RedisURI.Builder uri = RedisURI.builder();
            for (RedisServer sentinel : all.sentinels()) {
                uri.withSentinel("127.0.0.1", sentinel.port());
            }
            RedisURI servers = uri.withSentinelMasterId(RedisSentinels.NAME).build();
            SlowMachine.copes(Duration.ofSeconds(2), factor -> lasts(() -> RedisStore.builder(servers), factor));
        }
    }

    @Test
    void cluster() throws Exception {
        List<RedisURI> nodes = TestCluster.nodes(TestCluster.shared());
        SlowMachine.copes(Duration.ofSeconds(2), factor -> lasts(() -> RedisStore.clusterBuilder(nodes), factor));
    }

    @Test
    @MostlyWaits
    @DisplayName("and connections that are only slow are kept, with the holds: an answer counts until the deadline")
    void answersThatAreSlow() throws Exception {
        TestServer server = TestServer.shared();
        SlowMachine.copes(Duration.ofSeconds(2), factor -> {
            Duration ttl = Duration.ofSeconds(6L * factor);
            try (Network network = new Network();
                    RedisStore store = RedisStore.builder(server.uri())
                            .namespace("slow" + factor)
                            .resources(network.resources)
                            .commandTimeout(Duration.ofSeconds(5L * factor))
                            .open();
                    Holdfast client = client(store, ttl, factor)) {
                Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1));
                // There and back that is more than a quarter of the ttl.
                network.proxies.values().forEach(proxy -> proxy.delay(ttl.dividedBy(7)));
                long began = System.nanoTime();
                while (System.nanoTime() - began < 3 * ttl.toNanos()) {
                    assertThat(hold.isHeld())
                            .as("after %d ns", System.nanoTime() - began)
                            .isTrue();
                    LockSupport.parkNanos(5_000_000);
                }
                network.proxies.values().forEach(FaultProxy::heal);
                hold.close();
            }
        });
    }

    @Test
    @DisplayName("and what keeps keep-alives waiting for too long is refused, with both durations")
    void replicasThatAreWaitedForTooLong() {
        try (RedisStore store = TestServer.shared()
                .builder()
                .namespace("silent-replicas")
                .waitForReplicas(1, Duration.ofSeconds(1))
                .open()) {
            assertThatThrownBy(() -> client(store, Duration.ofMillis(3_999), 1))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContainingAll("1 s", "3.999 s", "replicaTimeout", "sessionTtl");
            client(store, Duration.ofSeconds(4), 6).close();
        }
    }
}
