package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The lock of jetcd, which is the one of the server. Its owner is a lease, so that each thread has one, for as long as
 * it runs; they are kept alive.
 */
public final class JetcdLocks implements Contestant {

    private static final int TTL_SECONDS = 30;

    @Override
    public String title() {
        return "jetcd";
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        io.etcd.jetcd.Client client = io.etcd.jetcd.Client.builder()
                .endpoints("http://" + Servers.address(Servers.Kind.ETCD, place))
                .build();
        return new JetcdClient(client, ThreadLocal.withInitial(() -> lease(client)));
    }

    private static long lease(io.etcd.jetcd.Client client) {
        try {
            long id = client.getLeaseClient().grant(TTL_SECONDS).get().getID();
            var unused = client.getLeaseClient().keepAlive(id, new Ignored());
            return id;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static final class Ignored implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse renewed) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }

    private record JetcdClient(io.etcd.jetcd.Client client, ThreadLocal<Long> lease) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new JetcdMutex(this, ByteSequence.from(name, StandardCharsets.UTF_8));
        }

        @Override
        public void close() {
            client.close();
        }
    }

    private static final class JetcdMutex implements Mutex {

        private final JetcdClient client;
        private final ByteSequence name;
        private @Nullable ByteSequence key;

        JetcdMutex(JetcdClient client, ByteSequence name) {
            this.client = client;
            this.name = name;
        }

        @Override
        public long acquire() throws InterruptedException {
            try {
                key = client.client
                        .getLockClient()
                        .lock(name, client.lease.get())
                        .get()
                        .getKey();
                return NO_TOKEN;
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void release() {
            ByteSequence held = key;
            key = null;
            if (held != null) {
                var unused = client.client.getLockClient().unlock(held).join();
            }
        }
    }
}
