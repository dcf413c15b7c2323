package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a cluster is found, and what is refused. */
@Tag("server")
class ClusterOpeningTest {

    /** What the manual says is enough. */
    static final String PERMISSIONS = "-@all +eval +evalsha +time +type +hget +hset +hsetnx +hdel +hscan +pexpire"
            + " +zadd +zrem +zscore +zrangebyscore +zrangebylex +zremrangebylex +publish +subscribe +unsubscribe +info +ping"
            + " +spublish +ssubscribe +sunsubscribe +asking +cluster|slots";

    private static void lock(LockStore store, String name) {
        ResourceName resource = new ResourceName(name);
        SessionId session = send(
                        store,
                        new Command.OpenSession(Duration.ofMinutes(1), "test", store.partitionOf(resource)),
                        Reply.SessionOpened.class)
                .session();
        send(store, acquire(claim(name, session, 1)), Reply.Granted.class);
        send(store, new Command.Release(claim(name, session, 1)), Reply.Released.class);
        send(store, new Command.CloseSession(session), Reply.Done.class);
    }

    private static void allow(String user, String rules) {
        for (RedisServer node : TestCluster.shared().nodes()) {
            List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on", ">secret"));
            words.addAll(List.of(("~acl:* resetchannels &acl:* " + rules).split(" ")));
            node.command(words.toArray(String[]::new));
        }
    }

    private static RedisStore.Builder as(String user) {
        List<RedisURI> nodes = TestCluster.nodes(TestCluster.shared());
        nodes.forEach(node -> node.setAuthentication(user, "secret".toCharArray()));
        return TestServer.patient(RedisStore.clusterBuilder(nodes)).namespace("acl");
    }

    @Test
    void isFoundByItsSchemeThroughAnyOfItsNodes() throws Exception {
        int one = TestCluster.shared().replicas().get(0).port();
        StoreUri uri = StoreUri.parse(
                "redis-cluster://127.0.0.1:" + one + "?namespace=found&timeout=PT30S&connectTimeout=PT1M");
        try (LockStore store = StoreProvider.of(uri).open(uri)) {
            assertThat(store.traits().product()).startsWith("Redis ");
            assertThat(store.partitions()).isEqualTo(1_024);
            for (int i = 0; i < 20; i++) {
                lock(store, "name-" + i);
            }
        }
    }

    @Test
    void nodeThatIsDownDoesNotKeepOthersFromBeingFound() {
        List<RedisURI> nodes = new ArrayList<>(List.of(RedisURI.create("127.0.0.1", 1)));
        nodes.addAll(TestCluster.nodes(TestCluster.shared()));
        try (RedisStore store = TestServer.patient(RedisStore.clusterBuilder(nodes))
                .namespace("down")
                .open()) {
            lock(store, "ledger");
        }
    }

    @Test
    void listedPermissionsAreEnough() {
        allow("least", PERMISSIONS);
        try (RedisStore store = as("least").open()) {
            for (int i = 0; i < 20; i++) {
                lock(store, "name-" + i);
            }
            send(store, new Command.Inspect("name", Optional.empty(), 10), Reply.Inspected.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"spublish", "cluster|slots", "hdel", "zadd"})
    void missingPermissionIsSaidAtOnce(String lacking) {
        allow("lacking", PERMISSIONS.replace(" +" + lacking, ""));
        assertThatThrownBy(() -> as("lacking").open().close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(StoreException.Reason.DENIED))
                .hasMessageContaining("permi");
    }

    @Test
    void wrongPasswordIsSaid() {
        List<RedisURI> nodes = TestCluster.nodes(TestCluster.shared());
        nodes.forEach(node -> node.setAuthentication("nobody", "canary".toCharArray()));
        Throwable refused = catchThrowable(() ->
                TestServer.patient(RedisStore.clusterBuilder(nodes)).open().close());
        assertThat(refused).isInstanceOfSatisfying(StoreException.class, why -> {
            assertThat(why.reason()).isEqualTo(StoreException.Reason.DENIED);
            assertThat(why.getMessage()).doesNotContain("canary");
        });
    }

    @Test
    void singleServerIsNoCluster() {
        RedisURI single = TestServer.shared().uri();
        assertThatThrownBy(() -> TestServer.patient(RedisStore.clusterBuilder(List.of(single)))
                        .open()
                        .close())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("redis://");
    }

    @Test
    void nodeOfAClusterIsNoSingleServer() {
        RedisURI node = TestCluster.nodes(TestCluster.shared()).get(0);
        assertThatThrownBy(() ->
                        TestServer.patient(RedisStore.builder(node)).open().close())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("redis-cluster://");
    }

    @Test
    void nobodyThereIsSaidInTime() {
        assertThatThrownBy(() -> RedisStore.clusterBuilder(
                                List.of(RedisURI.create("127.0.0.1", 1), RedisURI.create("127.0.0.1", 2)))
                        .connectTimeout(Duration.ofSeconds(5))
                        .resources(RedisUnderTest.RESOURCES)
                        .open()
                        .close())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(StoreException.Reason.UNAVAILABLE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-cluster:localhost",
                "redis-cluster://",
                "redis-cluster://host,",
                "redis-cluster://host:0",
                "redis-cluster://host/1",
                "redis-cluster://host?master=m",
                "redis-cluster://canary@host",
            })
    void whatIsNotOfTheFormIsRefused(String uri) {
        Throwable thrown =
                catchThrowable(() -> RedisUris.builder(StoreUri.parse(uri)).open());
        assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
        assertThat(thrown.toString()).doesNotContain("canary");
    }

    @Test
    void clusterWithoutNodesOrWithDatabasesIsRefused() {
        assertThatThrownBy(() -> RedisStore.clusterBuilder(List.of())).isInstanceOf(IllegalArgumentException.class);
        RedisURI second = RedisURI.create("127.0.0.1", 6379);
        second.setDatabase(1);
        assertThatThrownBy(() -> RedisStore.clusterBuilder(List.of(second)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
