package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/** The registry of Spring Integration on ZooKeeper, with its default settings. */
public final class SpringZooKeeperLocks implements Contestant {

    @Override
    public String title() {
        return "spring";
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        CuratorFramework client = CuratorLocks.connected(place);
        return new SpringClient(client, new ZookeeperLockRegistry(client, "/spring"));
    }

    private record SpringClient(CuratorFramework client, ZookeeperLockRegistry registry) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new LockMutex(registry.obtain(name.replace('/', '-')));
        }

        @Override
        public void close() {
            registry.destroy();
            client.close();
        }
    }
}
