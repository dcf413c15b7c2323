package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store on the connection of a program's client of Curator's. */
@Tag("server")
class CuratorStoreTest {

    private final String root = ZooKeeperUnderTest.newRoot();
    private CuratorFramework curator;

    @BeforeEach
    void connect() {
        curator = CuratorFrameworkFactory.builder()
                .connectString(ZooKeeperUnderTest.server().connectString())
                .sessionTimeoutMs(120_000)
                .connectionTimeoutMs(60_000)
                .retryPolicy(new RetryOneTime(100))
                .namespace("somewhere")
                .build();
        curator.start();
    }

    @AfterEach
    void disconnect() {
        curator.close();
    }

    private ZooKeeperStore store() {
        return CuratorStore.builder(curator)
                .root(root)
                .connectTimeout(Duration.ofMinutes(1))
                .open();
    }

    @Test
    void leavesTheClientAndNothingOfItsSessions() throws Exception {
        try (Holdfast holdfast = Holdfast.builder(store()).build();
                Hold hold = holdfast.lock("lent").acquire()) {
            assertThat(hold.isHeld()).isTrue();
        }
        assertThat(curator.getState()).isEqualTo(CuratorFrameworkState.STARTED);
        ZooKeeper handle = curator.getZookeeperClient().getZooKeeper();
        assertThat(handle.getState().isConnected()).isTrue();
        until("no ephemeral node is left", () -> ephemerals() == 0);
    }

    @Test
    void endsASessionThatWasLeftOpenWhenItsTimeIsOver() throws Exception {
        ZooKeeperStore store = store();
        Holdfast left =
                Holdfast.builder(store).sessionTtl(Duration.ofSeconds(2)).build();
        Hold hold = left.lock("left").acquire();
        assertThat(hold.isHeld()).isTrue();
        store.close();
        assertThat(ephemerals()).isPositive();
        until("no ephemeral node is left", () -> ephemerals() == 0);
        left.close();
    }

    /** By a command, because servers before 3.6 do not report it to clients. */
    private long ephemerals() {
        return ZooKeeperUnderTest.server()
                .ask("dump")
                .lines()
                .filter(line -> line.contains(root))
                .count();
    }

    @Test
    void goesOnWithTheNextSession() throws Exception {
        try (Holdfast holdfast = Holdfast.builder(store()).build()) {
            Hold hold = holdfast.lock("expired").acquire();
            long token = hold.fencingToken();
            AtomicBoolean isTold = new AtomicBoolean();
            hold.onLost(loss -> isTold.set(true));
            curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
            until("the loss is told", isTold::get);
            until("the client is used again", () -> {
                try (Hold next = holdfast.lock("another").acquire(Duration.ofSeconds(10))) {
                    return next.fencingToken() > 0;
                } catch (InterruptedException | RuntimeException e) {
                    return false;
                }
            });
            assertThat(token).isPositive();
        }
    }

    @Test
    void clientThatMayNotBeAbleToReadWhatOthersWriteIsRefused() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, "20000");
        try (CuratorFramework small = CuratorFrameworkFactory.builder()
                .connectString(ZooKeeperUnderTest.server().connectString())
                .retryPolicy(new RetryOneTime(100))
                .zkClientConfig(config)
                .build()) {
            small.start();
            ZooKeeperStore.Builder builder = CuratorStore.builder(small).connectTimeout(Duration.ofMinutes(1));
            assertThatThrownBy(builder::open)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("jute.maxbuffer");
        }
    }

    @Test
    void optionsOfTheClientAreSetThere() {
        ZooKeeperStore.Builder builder = CuratorStore.builder(curator).root(root);
        builder.sessionTimeout(Duration.ofSeconds(10));
        assertThatThrownBy(builder::open).isInstanceOf(IllegalStateException.class);
    }
}
