package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a store is opened, and what keeps it from that. */
@Tag("server")
class ZooKeeperOpeningTest {

    private static String uri(String rest) {
        return "zookeeper://" + ZooKeeperUnderTest.server().connectString() + rest;
    }

    private static void works(ZooKeeperStore store) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.builder(store).build();
                Hold hold = holdfast.lock("works").acquire()) {
            assertThat(hold.isHeld()).isTrue();
        }
    }

    private static void expectRefused(ThrowingCallable opening, Reason reason, String text) {
        assertThatThrownBy(opening)
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(reason))
                .hasMessageContaining(text);
    }

    @Test
    @Tag("smoke")
    void opensByUriBelowAChrootThatIsNotThereYet() throws Exception {
        StoreUri uri = StoreUri.parse(uri(ZooKeeperUnderTest.newRoot() + "/deeper?root=/a/b&connectTimeout=PT1M"));
        assertThat(StoreProvider.of(uri)).isInstanceOf(ZooKeeperStoreProvider.class);
        works((ZooKeeperStore) StoreProvider.of(uri).open(uri));
    }

    @Test
    void saysThatNobodyAnswers() {
        expectRefused(
                () -> ZooKeeperStore.builder("127.0.0.1:1")
                        .connectTimeout(Duration.ofMillis(300))
                        .open(),
                Reason.UNAVAILABLE,
                "127.0.0.1:1");
    }

    private static void expectForeign(int port, String words) {
        String place = "127.0.0.1:" + port;
        for (String scheme : List.of("zookeeper", "zookeepers")) {
            StoreUri uri = StoreUri.parse(scheme + "://" + place + "?connectTimeout=PT1M");
            expectRefused(
                    () -> StoreProvider.of(uri).open(uri),
                    Reason.DENIED,
                    "what listens at " + place + " is not a ZooKeeper server: it answers as " + words);
        }
    }

    @Test
    @NeedsEtcd
    @MostlyWaits
    void saysThatAnEtcdServerAnswers() {
        try (EtcdServer server = EtcdServer.start()) {
            String endpoint = server.endpoint();
            int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
            expectForeign(port, "an etcd server does (its scheme is etcd://)");
        }
    }

    @Test
    @MostlyWaits
    void saysThatARedisServerAnswers() {
        try (RedisServer server = RedisServer.start()) {
            expectForeign(server.port(), "a Redis server does (its scheme is redis://)");
        }
    }

    @Test
    @MostlyWaits
    void saysThatAPostgresServerAnswers() {
        try (PostgresServer server = PostgresServer.start()) {
            expectForeign(server.port(), "a PostgreSQL server does (its scheme is postgresql://)");
        }
    }

    @Test
    @MostlyWaits
    void saysThatAnHttpServerAnswers() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.start();
        try {
            expectForeign(server.getAddress().getPort(), "an HTTP server does");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void refusesARootOfSomebodyElse() throws Exception {
        String path;
        try (ZooKeeper zooKeeper = new ZooKeeper(ZooKeeperUnderTest.server().connectString(), 60_000, event -> {})) {
            path = zooKeeper.create(
                    "/theirs-",
                    "theirs".getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT_SEQUENTIAL);
        }
        expectRefused(() -> ZooKeeperUnderTest.builder(path).open(), Reason.CORRUPT, path);
    }

    @Test
    void saysThatACreatorNeedsAUser() {
        expectRefused(
                () -> ZooKeeperUnderTest.builder(ZooKeeperUnderTest.newRoot())
                        .access(ZooKeeperStore.Access.CREATOR)
                        .open(),
                Reason.DENIED,
                "acl=creator");
    }

    @Test
    void keepsOthersOutWhoAreNotItsCreator() throws Exception {
        String root = ZooKeeperUnderTest.newRoot();
        works(ZooKeeperUnderTest.builder(root)
                .digest("locks", "secret")
                .access(ZooKeeperStore.Access.CREATOR)
                .open());
        expectRefused(
                () -> ZooKeeperUnderTest.builder(root).digest("locks", "wrong").open(), Reason.DENIED, "no access");
        works(ZooKeeperUnderTest.builder(root)
                .digest("locks", "secret")
                .access(ZooKeeperStore.Access.CREATOR)
                .open());
    }

    @Test
    void refusesASessionThatIsLongerThanTheTimeOutAllows() {
        ZooKeeperStore store = ZooKeeperUnderTest.builder(ZooKeeperUnderTest.newRoot())
                .sessionTimeout(Duration.ofSeconds(20))
                .open();
        assertThat(store.traits().maxSessionTtl()).isEqualTo(Duration.ofMillis(16_600));
        assertThatThrownBy(() -> {
                    try (Holdfast holdfast = Holdfast.builder(store)
                            .sessionTtl(Duration.ofSeconds(19))
                            .build()) {
                        holdfast.lock("never").acquire().close();
                    }
                })
                .hasMessageContaining("19 s")
                .hasMessageContaining("16.6 s");
        store.close();
    }
}
