package dev.holdfast.benchmarks.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** A plain session on a ZooKeeper. Thread-safe. */
public final class ZooKeeperAccess implements AutoCloseable {

    private static final int SESSION_MILLIS = 30_000;
    private static final String ITS_OWN = "zookeeper";
    /** A mutable list: ZooKeeper calls {@code contains(null)}, which immutable ones reject. */
    private static final List<ACL> OPEN = new ArrayList<>(List.of(new ACL(Perms.ALL, new Id("world", "anyone"))));

    private final ZooKeeper zooKeeper;

    public ZooKeeperAccess(String address) {
        CountDownLatch connected = new CountDownLatch(1);
        try {
            this.zooKeeper = new ZooKeeper(address, SESSION_MILLIS, event -> {
                if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                    connected.countDown();
                }
            });
            if (!connected.await(1, TimeUnit.MINUTES)) {
                throw new IllegalStateException("no connection to " + address);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Creates an ephemeral node if it is absent; returns whether it did. */
    public boolean createIfAbsent(String path) throws InterruptedException {
        try {
            var unused = zooKeeper.create(path, new byte[0], OPEN, CreateMode.EPHEMERAL);
            return true;
        } catch (KeeperException.NodeExistsException e) {
            return false;
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Creates an ephemeral node if it is absent. */
    public void createOnce(String path) {
        quietly(() -> {
            var unused = createIfAbsent(path);
        });
    }

    public void delete(String path) {
        quietly(() -> zooKeeper.delete(path, -1));
    }

    public void set(String path) {
        quietly(() -> zooKeeper.setData(path, new byte[1], -1));
    }

    void deleteAll() {
        quietly(() -> {
            for (String child : zooKeeper.getChildren("/", false)) {
                if (!child.equals(ITS_OWN)) {
                    deleteTree("/" + child);
                }
            }
        });
    }

    /** Ignores nodes that the server deletes meanwhile, such as containers and ephemeral nodes. */
    private void deleteTree(String path) throws InterruptedException, KeeperException {
        try {
            for (String child : zooKeeper.getChildren(path, false)) {
                deleteTree(path + "/" + child);
            }
            zooKeeper.delete(path, -1);
        } catch (KeeperException.NoNodeException e) {
            return;
        } catch (KeeperException.NotEmptyException e) {
            deleteTree(path);
        }
    }

    private interface Action {
        void run() throws InterruptedException, KeeperException;
    }

    private static void quietly(Action action) {
        try {
            action.run();
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        quietly(zooKeeper::close);
    }
}
