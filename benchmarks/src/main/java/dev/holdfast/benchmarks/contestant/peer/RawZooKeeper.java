package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import java.nio.file.Path;

/**
 * What one would write by hand: an ephemeral node that is created if it is not there, and deleted. Whoever finds the
 * node there asks again at once. It is not fair, and has no tokens: to see what all that costs.
 */
public final class RawZooKeeper implements Contestant {

    @Override
    public String title() {
        return "raw";
    }

    /** Nothing of ours: its threads may starve, where hundreds want the one name. */
    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        return new RawClient(new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place)));
    }

    private record RawClient(ZooKeeperAccess zooKeeper) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new RawMutex(zooKeeper, "/" + name.replace('/', '-'));
        }

        @Override
        public void close() {
            zooKeeper.close();
        }
    }

    private record RawMutex(ZooKeeperAccess zooKeeper, String path) implements Mutex {

        @Override
        public long acquire() throws InterruptedException {
            while (!zooKeeper.createIfAbsent(path)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            zooKeeper.delete(path);
        }
    }
}
