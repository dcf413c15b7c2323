package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.Certificates;
import dev.holdfast.servers.RedisCluster;
import dev.holdfast.servers.RedisSentinels;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several servers with TLS for every connection, including the first. */
@Tag("server")
class RedisServersTlsTest {

    @SuppressWarnings("NullAway.Init")
    private static Certificates certificates;

    @BeforeAll
    static void make() {
        certificates = Certificates.make();
    }

    private static void refused(Reason reason, String uri, String word) {
        Throwable thrown =
                catchThrowable(() -> RedisUris.builder(StoreUri.parse(uri)).open());
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refusal ->
                                assertThat(refusal.reason()).as("%s", refusal).isEqualTo(reason))
                .hasMessageContaining(word);
    }

    @Test
    void sentinelsAndTheirPrimariesBeforeAndAfterAFailOver() throws Exception {
        try (RedisSentinels all = RedisSentinels.start(certificates)) {
            String uri = all.uri() + "&connectTimeout=PT1M&ca=" + certificates.authority();
            refused(Reason.DENIED, all.uri() + "&ca=" + certificates.stranger(), "certificate");
            refused(Reason.UNAVAILABLE, all.uri().replace("rediss-", "redis-") + "&connectTimeout=PT5S", "TLS");
            try (Holdfast client = Holdfast.builder(uri + "&timeout=PT1M")
                    .sessionTtl(Duration.ofMinutes(2))
                    .keepAliveEvery(Duration.ofMillis(100))
                    .build()) {
                Hold hold = client.lock("ledger").acquire();
                RedisServer old = all.primary();
                assertThat(old.command("CLIENT", "LIST").get(0).toString().lines())
                        .as("who uses the port without TLS: the test alone")
                        .filteredOn(line -> line.contains("laddr=127.0.0.1:" + old.port() + " "))
                        .hasSize(1);
                until(
                        "all has been copied",
                        () -> old.command("WAIT", "2", "100").equals(List.of(2L)));
                all.failOver(RedisServer::kill);
                hold.close();
                try (Hold next = client.lock("ledger").acquire(Duration.ofMinutes(1))) {
                    assertThat(next.fencingToken()).isPositive();
                    assertThat(all.primary().info("role")).isEqualTo("master");
                }
            }
        }
    }

    @Test
    void nodesOfAClusterAndWhereTheySendUs() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(certificates)) {
            String trusting = "?namespace=tls&connectTimeout=PT1M&ca=" + certificates.authority();
            refused(Reason.DENIED, cluster.uri() + "?ca=" + certificates.stranger(), "certificate");
            refused(Reason.UNAVAILABLE, cluster.uri().replace("rediss-", "redis-") + "?connectTimeout=PT5S", "TLS");
            // One node is named: the others are those that it names, by the ports that speak TLS.
            String one =
                    "rediss-cluster://localhost:" + cluster.primaries().get(1).tlsPort() + trusting;
            try (Holdfast holder = Holdfast.connect(one);
                    Holdfast waiter = Holdfast.connect(cluster.uri() + trusting)) {
                List<Hold> holds = new ArrayList<>();
                List<CompletableFuture<Hold>> waiting = new ArrayList<>();
                for (int i = 0; i < 30; i++) {
                    holds.add(holder.lock("name/" + i).acquire());
                    waiting.add(waiter.lock("name/" + i).acquireAsync().toCompletableFuture());
                }
                for (RedisServer node : cluster.primaries()) {
                    until(
                            "somebody listens at each node",
                            () -> !node.command("PUBSUB", "SHARDCHANNELS", "tls*")
                                    .isEmpty());
                }
                int slot = ClusterFaultsTest.slotOf("tls", "name/7");
                RedisServer from = cluster.primaries().get(slot * 3 / RedisCluster.SLOTS);
                RedisServer to = cluster.primaries().get((slot * 3 / RedisCluster.SLOTS + 1) % 3);
                cluster.move(slot, from, to, () -> {});
                for (int i = 0; i < holds.size(); i++) {
                    long token = holds.get(i).fencingToken();
                    holds.get(i).close();
                    try (Hold next = waiting.get(i).get(1, TimeUnit.MINUTES)) {
                        assertThat(next.fencingToken()).isGreaterThan(token);
                    }
                }
            }
        }
    }
}
