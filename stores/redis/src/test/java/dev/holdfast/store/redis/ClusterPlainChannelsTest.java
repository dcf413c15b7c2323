package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.RedisCluster;
import dev.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A cluster without sharded channels, as before Redis 7. The user here may neither see the version nor use such a
 * channel, by which newer servers are to this client as old ones are.
 */
@Tag("server")
class ClusterPlainChannelsTest {

    private static final String NAMESPACE = "plain";

    private static final String PERMISSIONS =
            ClusterOpeningTest.PERMISSIONS.replace(" +info +ping +spublish +ssubscribe +sunsubscribe", " +ping");

    @BeforeAll
    static void allow() {
        assertThat(PERMISSIONS).doesNotContain("+ss", "+sp", "+sun", "+info");
        for (RedisServer node : TestCluster.shared().nodes()) {
            List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "older", "reset", "on", ">secret"));
            words.addAll(List.of("~" + NAMESPACE + ":*", "resetchannels", "&" + NAMESPACE + ":*"));
            words.addAll(List.of(PERMISSIONS.split(" ")));
            node.command(words.toArray(String[]::new));
        }
    }

    /** A client whose leases are too long for polls at their end within a test. */
    private static Holdfast client() {
        return Holdfast.builder(
                        TestCluster.shared().uri().replace("://", "://older:secret@") + "?namespace=" + NAMESPACE)
                .sessionTtl(Duration.ofHours(1))
                .build();
    }

    @Test
    void waitersAreToldByAllNodesWhereverTheirSlotsGo() throws Exception {
        RedisCluster cluster = TestCluster.shared();
        try (Holdfast one = client();
                Holdfast two = client()) {
            for (int i = 0; i < 12; i++) {
                Hold hold = one.lock("name/" + i).acquire();
                CompletableFuture<Hold> waiting =
                        two.lock("name/" + i).acquireAsync().toCompletableFuture();
                String channels = NAMESPACE + "*";
                until(
                        "both listen",
                        () -> cluster.primaries().stream()
                                        .mapToInt(node -> node.command("PUBSUB", "CHANNELS", channels)
                                                .size())
                                        .sum()
                                >= 2);
                int slot = ClusterFaultsTest.slotOf(NAMESPACE, "name/" + i);
                RedisServer from = cluster.primaries().get(slot * 3 / RedisCluster.SLOTS);
                RedisServer to = cluster.primaries().get((slot * 3 / RedisCluster.SLOTS + 1) % 3);
                boolean isMoved = i % 3 == 0;
                if (isMoved) {
                    cluster.move(slot, from, to, () -> {});
                }
                hold.close();
                // Long before a poll would be due.
                waiting.get(1, TimeUnit.MINUTES).close();
                if (isMoved) {
                    cluster.move(slot, to, from, () -> {});
                }
            }
            assertThat(cluster.primaries())
                    .allSatisfy(node -> assertThat(node.command("PUBSUB", "SHARDCHANNELS", NAMESPACE + "*"))
                            .isEmpty());
        }
    }

    @Test
    void channelsThatNobodyNeedsAreLeft() throws Exception {
        RedisCluster cluster = TestCluster.shared();
        try (Holdfast client = Holdfast.builder(
                        cluster.uri().replace("://", "://older:secret@") + "?namespace=" + NAMESPACE)
                .keepAliveEvery(Duration.ofMillis(200))
                .build()) {
            client.lock("alone").acquire().close();
            RedisServer there =
                    cluster.primaries().get(ClusterFaultsTest.slotOf(NAMESPACE, "alone") * 3 / RedisCluster.SLOTS);
            until(
                    "nobody listens",
                    () -> there.command("PUBSUB", "CHANNELS", NAMESPACE + "*").isEmpty());
            client.lock("alone").acquire().close();
        }
    }
}
