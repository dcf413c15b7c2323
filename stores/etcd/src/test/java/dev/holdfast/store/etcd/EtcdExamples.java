package dev.holdfast.store.etcd;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import io.grpc.ManagedChannel;
import java.nio.file.Path;

/** What {@code docs/stores/etcd.md} shows. */
final class EtcdExamples {

    private EtcdExamples() {}

    /** What the examples write to. */
    interface Archive {
        void write(String report, long fencingToken);
    }

    static void open(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("etcd://etcd-1:2379,etcd-2:2379,etcd-3:2379/shop");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    /** What the examples ask for a password. */
    interface Vault {
        char[] password();
    }

    static EtcdStore secure(Vault vault, Path authorities) {
        EtcdStore store = EtcdStore.builder("etcd-1:2379", "etcd-2:2379", "etcd-3:2379")
                .namespace("shop")
                .trust(authorities)
                .user("locks", vault::password)
                .open();
        return store;
    }

    static EtcdStore lend(ManagedChannel channel) {
        EtcdStore store = EtcdStore.builder(channel).namespace("shop").open();
        return store;
    }

    /** What the program's client of etcd takes: a key, and the value that it must have. */
    interface Compare {
        void valueOf(byte[] key, byte[] value);
    }

    static void fence(Hold hold, Compare compare) {
        EtcdFence fence = EtcdFence.of(hold, "shop");
        compare.valueOf(fence.key(), fence.value());
    }
}
