package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that are restored from an old state, which refuse every session that has seen a later one. */
@Tag("server")
class ZooKeeperRestoreTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final String root = ZooKeeperUnderTest.newRoot();

    private Holdfast client(ZooKeeperServer server) {
        return Holdfast.builder(Trial.patient(ZooKeeperStore.builder(server.connectString()))
                        .sessionTimeout(TIMEOUT)
                        .root(root)
                        .open())
                .sessionTtl(Duration.ofSeconds(4))
                .build();
    }

    @Test
    void clientGoesOnWithANewSessionAndAHigherToken() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                Holdfast client = client(server)) {
            client.lock("restored").acquire().close();
            server.backUp();
            until("the client is connected again", () -> Trial.canAcquire(client, "restored"));
            Hold hold = client.lock("restored").acquire();
            long token = hold.fencingToken();
            server.restore();
            CompletableFuture<Boolean> isBack = CompletableFuture.supplyAsync(() -> {
                until("the client is connected again", () -> Trial.canAcquireAbove(token, client, "restored"));
                return true;
            });
            assertThat(isBack.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(hold.isHeld()).isFalse();
        }
    }

    @Test
    void lockWhoseNodeIsDeletedIsFreeAndItsHolderIsNotTold() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                Holdfast first = client(server);
                Holdfast second = client(server)) {
            Hold hold = first.lock("deleted").acquire();
            delete(server, "deleted");
            Hold next = second.lock("deleted").acquire();
            assertThat(next.fencingToken()).isGreaterThan(hold.fencingToken());
            assertThat(hold.isHeld()).isTrue();
        }
    }

    private void delete(ZooKeeperServer server, String name) throws Exception {
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
            for (String shard : zooKeeper.getChildren(root + "/r", false)) {
                String path = root + "/r/" + shard + "/" + name;
                if (zooKeeper.exists(path, false) != null) {
                    zooKeeper.delete(path, -1);
                }
            }
        }
    }
}
