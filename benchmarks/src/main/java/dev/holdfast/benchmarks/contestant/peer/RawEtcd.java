package dev.holdfast.benchmarks.contestant.peer;

import com.google.protobuf.ByteString;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What one would write by hand: a key that is put if it is not there, and deleted if it is still ours. Whoever finds
 * the key there asks again at once. It has no lease, is not fair, and has no tokens: to see what all that costs.
 */
public final class RawEtcd implements Contestant {

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
        return new RawClient(new EtcdAccess(Servers.address(Servers.Kind.ETCD, place)));
    }

    private record RawClient(EtcdAccess etcd) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new RawMutex(etcd, ByteString.copyFromUtf8(name));
        }

        @Override
        public void close() {
            etcd.close();
        }
    }

    private static final class RawMutex implements Mutex {

        private static final long NO_LEASE = 0;

        private final EtcdAccess etcd;
        private final ByteString key;
        private final ByteString owner = ByteString.copyFromUtf8(
                Long.toHexString(ThreadLocalRandom.current().nextLong()));

        RawMutex(EtcdAccess etcd, ByteString key) {
            this.etcd = etcd;
            this.key = key;
        }

        @Override
        public long acquire() throws InterruptedException {
            while (!etcd.putIfAbsent(key, owner, NO_LEASE)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            if (!etcd.deleteIf(key, owner)) {
                throw new IllegalStateException("the lock is not ours");
            }
        }
    }
}
