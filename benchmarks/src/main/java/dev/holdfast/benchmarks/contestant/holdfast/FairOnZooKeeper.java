package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import dev.holdfast.spi.LockStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A client in strict order, and a session of its own to measure what a write takes meanwhile. */
public record FairOnZooKeeper(ZooKeeperAccess zooKeeper, Holdfasts.HoldfastClient client) implements Contestant.Client {

    /** What a ping is, for the page. */
    public static final String PING = "a write of one small node";

    static Contestant.Client connect(Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        LockStore store = Holdfasts.ZOOKEEPER.open(place);
        Holdfast holdfast = Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
        return new FairOnZooKeeper(zooKeeper, new Holdfasts.HoldfastClient(store, holdfast));
    }

    @Override
    public Contestant.Mutex mutex(String name) {
        return client.mutex(name);
    }

    @Override
    public Optional<Runnable> ping() {
        String path = "/ping-" + ProcessHandle.current().pid();
        try {
            var unused = zooKeeper.createIfAbsent(path);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return Optional.of(() -> zooKeeper.set(path));
    }

    @Override
    public void close() {
        client.close();
        zooKeeper.close();
    }
}
