package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

/**
 * The lock of jetcd, which is the one of the server. Its owner is a lease, so each thread has a lease of its own, which
 * is kept alive.
 */
public final class JetcdLocks {

    public static final Contestant LOCK = new Peer("jetcd", JetcdLocks::connect);

    private static final int TTL_SECONDS = 30;

    private JetcdLocks() {}

    private static Contestant.Client connect(Path place) {
        Client client = Client.builder()
                .endpoints("http://" + Servers.address(Servers.Kind.ETCD, place))
                .build();
        ThreadLocal<Long> lease = ThreadLocal.withInitial(() -> lease(client));
        Lock locks = client.getLockClient();
        return Contestant.Client.of(
                text -> {
                    ByteSequence name = ByteSequence.from(text, StandardCharsets.UTF_8);
                    return PeerMutex.of(
                            () -> locks.lock(name, lease.get()).get().getKey(),
                            key -> locks.unlock(key).get());
                },
                client::close);
    }

    private static long lease(Client client) {
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
}
