package dev.holdfast.store.zookeeper;

import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.testkit.StoreUnderTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.apache.zookeeper.ZooKeeper;

/** Two stores below a root of their own, on one server for all tests of this JVM that need nothing special of it. */
final class ZooKeeperUnderTest implements StoreUnderTest {

    private static final class Shared {
        private static final ZooKeeperServer SERVER = ZooKeeperServer.start();
    }

    private final String root = newRoot();
    private final ZooKeeperStore first;
    private final ZooKeeperStore second;

    ZooKeeperUnderTest() {
        first = builder(root).open();
        second = builder(root).open();
    }

    static ZooKeeperServer server() {
        return Shared.SERVER;
    }

    static String newRoot() {
        return "/tests/" + UUID.randomUUID();
    }

    /** With time for a machine that is busy with something else. */
    static ZooKeeperStore.Builder builder(String root) {
        return patient(ZooKeeperStore.builder(server().connectString()).root(root));
    }

    static ZooKeeperStore.Builder patient(ZooKeeperStore.Builder builder) {
        return builder.sessionTimeout(Duration.ofHours(2))
                .connectTimeout(Duration.ofMinutes(1))
                .requestTimeout(Duration.ofSeconds(30));
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public boolean damage(ResourceName name) {
        try (ZooKeeper zooKeeper = new ZooKeeper(server().connectString(), 600_000, event -> {})) {
            for (String shard : zooKeeper.getChildren(root + "/r", false)) {
                String path = root + "/r/" + shard + "/" + name.value();
                if (zooKeeper.exists(path, false) != null) {
                    zooKeeper.setData(path, "rubbish".getBytes(StandardCharsets.UTF_8), -1);
                    return true;
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return false;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
