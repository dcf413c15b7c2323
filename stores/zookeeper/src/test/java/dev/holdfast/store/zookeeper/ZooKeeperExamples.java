package dev.holdfast.store.zookeeper;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** What {@code docs/stores/zookeeper.md} and {@code docs/migrating/curator.md} show. */
final class ZooKeeperExamples {

    private ZooKeeperExamples() {}

    /** What the examples write to. */
    interface Archive {
        void write(String report, long fencingToken);
    }

    static void open(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("zookeeper://zk1:2181,zk2:2181,zk3:2181/shop");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    static ZooKeeperStore lend(CuratorFramework existing) {
        ZooKeeperStore store =
                CuratorStore.builder(existing).root("/shop/locks").open();
        return store;
    }

    static ZooKeeperStore secure(String password) {
        ZooKeeperStore store = ZooKeeperStore.builder("zk1:2181,zk2:2181,zk3:2181/shop")
                .digest("locks", password)
                .access(ZooKeeperStore.Access.CREATOR)
                .sessionTimeout(Duration.ofSeconds(20))
                .open();
        return store;
    }

    static void fence(Holdfast holdfast, ZooKeeper zooKeeper, byte[] prices) throws Exception {
        ZooKeeperFence fence = ZooKeeperFence.at("/shop/prices-fence");

        try (Hold hold = holdfast.lock("prices").acquire()) {
            zooKeeper.multi(List.of(
                    fence.check(zooKeeper, hold), // throws if a later holder has been here
                    Op.setData("/shop/prices", prices, -1)));
        }
    }
}
