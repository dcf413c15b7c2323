package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import java.nio.file.Path;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/** Locks of others on ZooKeeper; Curator's with the retry policy of its documentation. All but the raw one are fair. */
public final class ZooKeeperPeers {

    /** An ephemeral node; the delete does not check its owner. */
    public static final Contestant RAW = new Peer("raw", ZooKeeperPeers::raw);

    public static final Contestant CURATOR =
            curator("curator", (client, path) -> mutex(new InterProcessMutex(client, path)));
    public static final Contestant CURATOR_SEMAPHORE_MUTEX =
            curator("curator-semaphore-mutex", (client, path) -> mutex(new InterProcessSemaphoreMutex(client, path)));
    public static final Contestant CURATOR_SEMAPHORE = curator("curator-semaphore", (client, path) -> {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, 1);
        return PeerMutex.of(semaphore::acquire, semaphore::returnLease);
    });
    public static final Contestant CURATOR_WRITE_LOCK = curator(
            "curator-write-lock", (client, path) -> mutex(new InterProcessReadWriteLock(client, path).writeLock()));
    public static final Contestant SPRING = new Peer("spring", ZooKeeperPeers::spring);

    private ZooKeeperPeers() {}

    private static Contestant.Client raw(Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        return Contestant.Client.of(
                name -> {
                    String path = "/" + name.replace('/', '-');
                    return PeerMutex.of(
                            () -> {
                                PeerMutex.spin(() -> zooKeeper.createIfAbsent(path));
                                return path;
                            },
                            zooKeeper::delete);
                },
                zooKeeper::close);
    }

    private static Contestant curator(String title, BiFunction<CuratorFramework, String, Contestant.Mutex> recipe) {
        return new Peer(title, place -> {
            CuratorFramework client = connected(place);
            return Contestant.Client.of(
                    name -> recipe.apply(client, "/locks/" + name.replace('/', '-')), client::close);
        });
    }

    private static Contestant.Mutex mutex(InterProcessLock lock) {
        return PeerMutex.of(
                () -> {
                    lock.acquire();
                    return lock;
                },
                InterProcessLock::release);
    }

    private static Contestant.Client spring(Path place) {
        CuratorFramework client = connected(place);
        ZookeeperLockRegistry registry = new ZookeeperLockRegistry(client, "/spring");
        return Contestant.Client.of(name -> PeerMutex.of(registry.obtain(name.replace('/', '-'))), () -> {
            registry.destroy();
            client.close();
        });
    }

    private static CuratorFramework connected(Path place) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                Servers.address(Servers.Kind.ZOOKEEPER, place), new ExponentialBackoffRetry(1_000, 3));
        client.start();
        return client;
    }
}
