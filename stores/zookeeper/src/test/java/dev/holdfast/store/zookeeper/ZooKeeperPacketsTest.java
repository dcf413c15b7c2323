package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.zookeeper.adapter.ZooKeeperAdapter;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import dev.holdfast.store.zookeeper.client.PacketBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Records and writes that come to the size that a packet of ZooKeeper may have. */
@Tag("server")
class ZooKeeperPacketsTest {

    private static final int CROWD = 3_000;
    private static final int SMALL_RECORD = 5_000;
    private static final String SMALL = "20000";

    private static ZooKeeperStore.Builder store(ZooKeeperServer server) {
        return ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                .root(ZooKeeperUnderTest.newRoot());
    }

    /** One whose records are soon full. */
    private static LockStore smallRecords(SystemTime time) {
        ZooKeeperAdapter adapter = ZooKeeperAdapter.open(
                new OwnHandle(
                        ZooKeeperUnderTest.server().connectString(),
                        Duration.ofHours(2),
                        List.of(),
                        new ZKClientConfig()),
                new ZooKeeperAdapter.Options(
                        ZooKeeperUnderTest.newRoot(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(30),
                        Optional.empty(),
                        SMALL_RECORD),
                time::monotonicNanos,
                time::wallMillis);
        return RegisterStore.over(adapter, time);
    }

    private static Holdfast client(LockStore store) {
        return Holdfast.builder(store).sessionTtl(Duration.ofMinutes(5)).build();
    }

    /** Requests this many permits, one by one and all at once, and returns those that were granted. */
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

    /** Why such a client is refused. */
    @Test
    void clientOfZooKeeperLosesItsConnectionWithEachAnswerThatIsTooLarge() throws Exception {
        String servers = ZooKeeperUnderTest.server().connectString();
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, SMALL);
        try (ZooKeeper writer = new ZooKeeper(servers, 60_000, event -> {});
                ZooKeeper reader = new ZooKeeper(servers, 60_000, event -> {}, config)) {
            String path = writer.create(
                    "/large-", new byte[100_000], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> reader.getData(path, false, null))
                        .isInstanceOf(KeeperException.ConnectionLossException.class);
            }
        }
    }

    private static void expectRefused(String buffer) {
        ZooKeeperStore.Builder builder =
                ZooKeeperStore.builder("127.0.0.1:1").property(ZKConfig.JUTE_MAXBUFFER, buffer);
        assertThatThrownBy(builder::open)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jute.maxbuffer")
                .hasMessageContaining(buffer);
    }

    @Test
    void clientThatMayNotBeAbleToReadWhatOthersWriteIsRefusedBeforeItConnects() {
        expectRefused(SMALL);
        expectRefused(String.valueOf(PacketBuffer.DEFAULT - 1));
        expectRefused("1 MB");
    }

    @Test
    void nameThatTooManyUseIsRefusedToMoreOfThem() throws Exception {
        try (SystemTime time = new SystemTime("small-records");
                Holdfast client = client(smallRecords(time))) {
            Hold hold = client.lock("other").acquire(Duration.ofMinutes(1));
            List<Permits> granted = crowd(client, "has no room for more holders and waiters");
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
