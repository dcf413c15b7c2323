package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
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

/** The locks of Curator, with the retry policy of its documentation. All of them are fair. */
public final class CuratorLocks {

    public static final Contestant MUTEX =
            peer("curator", (client, path) -> mutex(new InterProcessMutex(client, path)));
    public static final Contestant SEMAPHORE_MUTEX =
            peer("curator-semaphore-mutex", (client, path) -> mutex(new InterProcessSemaphoreMutex(client, path)));
    public static final Contestant SEMAPHORE = peer("curator-semaphore", (client, path) -> {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, 1);
        return PeerMutex.of(semaphore::acquire, semaphore::returnLease);
    });
    public static final Contestant WRITE_LOCK = peer(
            "curator-write-lock", (client, path) -> mutex(new InterProcessReadWriteLock(client, path).writeLock()));

    private CuratorLocks() {}

    private static Contestant peer(String title, BiFunction<CuratorFramework, String, Contestant.Mutex> recipe) {
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

    static CuratorFramework connected(Path place) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                Servers.address(Servers.Kind.ZOOKEEPER, place), new ExponentialBackoffRetry(1_000, 3));
        client.start();
        return client;
    }
}
