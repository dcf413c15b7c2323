package dev.holdfast.store.etcd.rpc;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** The gRPC methods of etcd in use. Messages are byte arrays. */
final class EtcdMethods {

    private static final String PACKAGE = "etcdserverpb.";

    private static final Marshaller<byte[]> BYTES = new Marshaller<>() {
        @Override
        public InputStream stream(byte[] message) {
            return new Message(message);
        }

        /** Allocates no more than needed if the length is known, as it is without compression. */
        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream instanceof KnownLength ? stream.readNBytes(stream.available()) : stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    static final MethodDescriptor<byte[], byte[]> RANGE = method("KV", "Range", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> TXN = method("KV", "Txn", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> GRANT = method("Lease", "LeaseGrant", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> REVOKE = method("Lease", "LeaseRevoke", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> TIME_TO_LIVE = method("Lease", "LeaseTimeToLive", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> KEEP_ALIVE =
            method("Lease", "LeaseKeepAlive", MethodType.BIDI_STREAMING);
    static final MethodDescriptor<byte[], byte[]> WATCH = method("Watch", "Watch", MethodType.BIDI_STREAMING);
    static final MethodDescriptor<byte[], byte[]> AUTHENTICATE = method("Auth", "Authenticate", MethodType.UNARY);
    static final MethodDescriptor<byte[], byte[]> STATUS = method("Maintenance", "Status", MethodType.UNARY);

    private EtcdMethods() {}

    /** A message that is sent without copying it through a buffer of 8 KB. */
    private static final class Message extends ByteArrayInputStream implements KnownLength, Drainable {

        Message(byte[] message) {
            super(message);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            return Math.toIntExact(transferTo(target));
        }
    }

    private static MethodDescriptor<byte[], byte[]> method(String service, String name, MethodType type) {
        return MethodDescriptor.newBuilder(BYTES, BYTES)
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(PACKAGE + service, name))
                .build();
    }
}
