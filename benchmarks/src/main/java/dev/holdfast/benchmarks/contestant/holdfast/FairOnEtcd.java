package dev.holdfast.benchmarks.contestant.holdfast;

import com.google.protobuf.ByteString;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.store.etcd.EtcdStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A client in strict order, on a channel that it shares with the one who measures what a write takes on it. */
public record FairOnEtcd(EtcdAccess etcd, Holdfasts.HoldfastClient client) implements Contestant.Client {

    /** What a ping is, for the page. */
    public static final String PING = "a put of one small key";

    static Contestant.Client connect(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        EtcdStore store = EtcdStore.builder(etcd.channel())
                .connectTimeout(Duration.ofMinutes(1))
                .open();
        Holdfast holdfast = Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
        return new FairOnEtcd(etcd, new Holdfasts.HoldfastClient(store, holdfast));
    }

    @Override
    public Contestant.Mutex mutex(String name) {
        return client.mutex(name);
    }

    @Override
    public Optional<Runnable> ping() {
        ByteString key =
                ByteString.copyFromUtf8("ping-" + ProcessHandle.current().pid());
        ByteString value = ByteString.copyFromUtf8("x");
        return Optional.of(() -> etcd.put(key, value));
    }

    @Override
    public void close() {
        client.close();
        etcd.close();
    }
}
