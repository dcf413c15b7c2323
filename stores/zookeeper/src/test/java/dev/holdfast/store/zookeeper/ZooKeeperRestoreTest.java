package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that are restored from an old state, which refuse every session that has seen a later one. */
@Tag("server")
class ZooKeeperRestoreTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final String root = ZooKeeperUnderTest.newRoot();

    private Holdfast client(ZooKeeperServer server) {
        return client(server, TIMEOUT, Duration.ofSeconds(4));
    }

    /** One that a busy machine does not lose. */
    private Holdfast patientClient(ZooKeeperServer server) {
        return client(server, Duration.ofMinutes(5), Duration.ofSeconds(10));
    }

    private Holdfast client(ZooKeeperServer server, Duration timeout, Duration ttl) {
        return Holdfast.builder(Trial.patient(ZooKeeperStore.builder(server.connectString()))
                        .sessionTimeout(timeout)
                        .root(root)
                        .open())
                .sessionTtl(ttl)
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
    void holderWhoseNodeIsDeletedLosesItsLock() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                Holdfast first = patientClient(server);
                Holdfast second = patientClient(server)) {
            Hold hold = first.lock("deleted").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            delete(server, "deleted");
            Hold next = second.lock("deleted").acquire();
            assertThat(next.fencingToken()).isGreaterThan(hold.fencingToken());
            assertThat(lost.get(1, TimeUnit.MINUTES)).isNotNull();
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void releaseAfterItsNodeWasDeletedLeavesTheNextHolderAlone() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                Holdfast first = patientClient(server);
                Holdfast second = patientClient(server);
                Holdfast third = patientClient(server)) {
            Hold hold = first.lock("deleted").acquire();
            delete(server, "deleted");
            Hold next = second.lock("deleted").acquire();
            var unused = hold.releaseAsync(); // may say that it was lost
            first.close();
            assertThat(third.lock("deleted").tryAcquire()).isEmpty();
            assertThat(next.isHeld()).isTrue();
        }
    }

    private void delete(ZooKeeperServer server, String name) throws Exception {
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
            for (String shard : zooKeeper.getChildren(root + "/r", false)) {
                String path = root + "/r/" + shard + "/" + name;
                if (zooKeeper.exists(path, false) != null) {
                    ZKUtil.deleteRecursive(zooKeeper, path);
                }
            }
        }
    }
}
