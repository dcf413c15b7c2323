package dev.holdfast.benchmarks.contestant.peer;

import com.google.protobuf.ByteString;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

/** Locks of others on etcd. */
public final class EtcdPeers {

    /** A key. */
    public static final Contestant RAW = new Peer("raw", EtcdPeers::raw);

    /** The lock of the server. Its owner is a lease, so each thread has a lease, which is kept alive. */
    public static final Contestant JETCD = new Peer("jetcd", EtcdPeers::jetcd);

    private static final int TTL_SECONDS = 30;
    private static final long NO_LEASE = 0;

    private EtcdPeers() {}

    private static Contestant.Client raw(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        return Contestant.Client.of(
                name -> {
                    ByteString key = ByteString.copyFromUtf8(name);
                    ByteString owner = ByteString.copyFromUtf8(PeerMutex.newOwner());
                    return PeerMutex.of(
                            () -> {
                                PeerMutex.spin(() -> etcd.putIfAbsent(key, owner, NO_LEASE));
                                return owner;
                            },
                            owned -> PeerMutex.requireOurs(etcd.deleteIf(key, owned)));
                },
                etcd::close);
    }

    private static Contestant.Client jetcd(Path place) {
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
