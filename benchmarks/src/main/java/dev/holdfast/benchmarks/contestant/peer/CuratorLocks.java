package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.jspecify.annotations.Nullable;

/** The recipes of Curator that exclude others, with the retry policy of its documentation. All of them are fair. */
public enum CuratorLocks implements Contestant {
    MUTEX("curator") {
        @Override
        Mutex mutex(CuratorFramework client, String path) {
            return new Recipe(new InterProcessMutex(client, path));
        }
    },
    SEMAPHORE_MUTEX("curator-semaphore-mutex") {
        @Override
        Mutex mutex(CuratorFramework client, String path) {
            return new Recipe(new InterProcessSemaphoreMutex(client, path));
        }
    },
    SEMAPHORE("curator-semaphore") {
        @Override
        Mutex mutex(CuratorFramework client, String path) {
            return new Permit(new InterProcessSemaphoreV2(client, path, 1));
        }
    },
    WRITE_LOCK("curator-write-lock") {
        @Override
        Mutex mutex(CuratorFramework client, String path) {
            return new Recipe(new InterProcessReadWriteLock(client, path).writeLock());
        }
    };

    private final String title;

    CuratorLocks(String title) {
        this.title = title;
    }

    abstract Mutex mutex(CuratorFramework client, String path);

    @Override
    public String title() {
        return title;
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        return new CuratorClient(this, connected(place));
    }

    static CuratorFramework connected(Path place) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                Servers.address(Servers.Kind.ZOOKEEPER, place), new ExponentialBackoffRetry(1_000, 3));
        client.start();
        return client;
    }

    private record CuratorClient(CuratorLocks kind, CuratorFramework client) implements Client {

        @Override
        public Mutex mutex(String name) {
            return kind.mutex(client, "/locks/" + name.replace('/', '-'));
        }

        @Override
        public void close() {
            client.close();
        }
    }

    /** Passes on what an interruption was, and no other checked exception. */
    private static IllegalStateException failure(Exception e) throws InterruptedException {
        if (e instanceof InterruptedException interruption) {
            throw interruption;
        }
        return new IllegalStateException(e);
    }

    private record Recipe(InterProcessLock lock) implements Mutex {

        @Override
        public long acquire() throws InterruptedException {
            try {
                lock.acquire();
                return NO_TOKEN;
            } catch (Exception e) {
                throw failure(e);
            }
        }

        @Override
        public void release() {
            try {
                lock.release();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Permit implements Mutex {

        private final InterProcessSemaphoreV2 semaphore;
        private @Nullable Lease lease;

        Permit(InterProcessSemaphoreV2 semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public long acquire() throws InterruptedException {
            try {
                lease = semaphore.acquire();
                return NO_TOKEN;
            } catch (Exception e) {
                throw failure(e);
            }
        }

        @Override
        public void release() {
            Lease held = lease;
            lease = null;
            if (held != null) {
                semaphore.returnLease(held);
            }
        }
    }
}
