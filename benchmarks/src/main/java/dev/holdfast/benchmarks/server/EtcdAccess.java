package dev.holdfast.benchmarks.server;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.TimeUnit;

/** A plain connection to etcd over gRPC. Thread-safe. */
public final class EtcdAccess implements AutoCloseable {

    private static final ByteString ALL = ByteString.copyFrom(new byte[] {0});

    private final ManagedChannel channel;
    private final KVGrpc.KVBlockingStub keys;

    public EtcdAccess(String endpoint) {
        this.channel = NettyChannelBuilder.forTarget(endpoint).usePlaintext().build();
        this.keys = KVGrpc.newBlockingStub(channel);
    }

    public ManagedChannel channel() {
        return channel;
    }

    /** Puts a key if it is absent; returns whether it did. */
    public boolean putIfAbsent(ByteString key, ByteString value, long lease) {
        PutRequest put = PutRequest.newBuilder()
                .setKey(key)
                .setValue(value)
                .setLease(lease)
                .build();
        return transact(
                Compare.newBuilder()
                        .setKey(key)
                        .setTarget(Compare.CompareTarget.CREATE)
                        .setCreateRevision(0),
                RequestOp.newBuilder().setRequestPut(put));
    }

    /** Deletes a key if it has a value; returns whether it did. */
    public boolean deleteIf(ByteString key, ByteString value) {
        return transact(
                Compare.newBuilder()
                        .setKey(key)
                        .setTarget(Compare.CompareTarget.VALUE)
                        .setValue(value),
                RequestOp.newBuilder()
                        .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key)));
    }

    private boolean transact(Compare.Builder condition, RequestOp.Builder operation) {
        return keys.txn(TxnRequest.newBuilder()
                        .addCompare(condition)
                        .addSuccess(operation)
                        .build())
                .getSucceeded();
    }

    public void put(ByteString key, ByteString value) {
        var unused =
                keys.put(PutRequest.newBuilder().setKey(key).setValue(value).build());
    }

    void deleteAll() {
        var unused = keys.deleteRange(
                DeleteRangeRequest.newBuilder().setKey(ALL).setRangeEnd(ALL).build());
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            var unused = channel.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
