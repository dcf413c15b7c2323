package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Records and writes that come to the size that a packet of ZooKeeper may have. */
@Tag("server")
class ZooKeeperPacketsTest {

    private static final int CROWD = 3_000;
    private static final String SMALL = "20000";

    private static ZooKeeperStore.Builder store(ZooKeeperServer server) {
        return ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                .root(ZooKeeperUnderTest.newRoot());
    }

    private static Holdfast client(ZooKeeperStore store) {
        return Holdfast.builder(store).sessionTtl(Duration.ofMinutes(5)).build();
    }

    /** Asks for so many permits one by one and at once, and returns those that were not refused. */
    private static List<Permits> crowd(Holdfast client, String refusal) throws Exception {
        DistributedSemaphore semaphore = client.semaphore("crowd", CROWD);
        List<CompletableFuture<Permits>> asked = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            asked.add(semaphore.acquireAsync(1, AcquireOptions.defaults()).toCompletableFuture());
        }
        List<Permits> granted = new ArrayList<>();
        for (CompletableFuture<Permits> one : asked) {
            try {
                granted.add(one.get(2, TimeUnit.MINUTES));
            } catch (ExecutionException e) {
                assertThat(e.getCause())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining(refusal);
            }
        }
        return granted;
    }

    private static void works(Holdfast client, String name) throws InterruptedException {
        try (Hold hold = client.lock(name).acquire(Duration.ofMinutes(1))) {
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    void nameThatTooManyUseIsRefusedToMoreOfThem() throws Exception {
        ZooKeeperStore store = store(ZooKeeperUnderTest.server())
                .property(ZKConfig.JUTE_MAXBUFFER, SMALL)
                .open();
        try (Holdfast client = client(store)) {
            Hold hold = client.lock("other").acquire(Duration.ofMinutes(1));
            List<Permits> granted = crowd(client, "a record on this store has room for");
            assertThat(granted.size()).isBetween(100, CROWD - 1);
            works(client, "another");
            assertThat(hold.isHeld()).isTrue();
            granted.forEach(Permits::close);
            works(client, "another");
        }
    }

    @Test
    void serverThatTakesLessThanTheClientBreaksFewConnections() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.builder()
                        .property(ZKConfig.JUTE_MAXBUFFER, SMALL)
                        .start();
                Holdfast client = client(store(server).open())) {
            Hold hold = client.lock("other").acquire(Duration.ofMinutes(1));
            List<Permits> granted = crowd(client, "jute.maxbuffer");
            assertThat(granted.size()).isBetween(100, CROWD - 1);
            assertThat(server.process().logged("Len error")).hasSizeBetween(2, 10);
            works(client, "another");
            assertThat(hold.isHeld()).isTrue();
            granted.forEach(Permits::close);
            works(client, "another");
        }
    }
}
