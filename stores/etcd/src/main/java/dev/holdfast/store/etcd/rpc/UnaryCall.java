package dev.holdfast.store.etcd.rpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A call with one request and one answer, which records whether it was sent. */
final class UnaryCall extends ClientCall.Listener<byte[]> {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final CompletableFuture<byte[]> answered = new CompletableFuture<>();
    private final SentTracer tracer;
    private byte @Nullable [] answer;

    private UnaryCall(SentTracer tracer) {
        this.tracer = tracer;
    }

    /** Starts a call. The result fails with a {@link CallFailure}. */
    static CompletableFuture<byte[]> start(
            Channel channel, MethodDescriptor<byte[], byte[]> method, byte[] request, String token, Duration timeout) {
        SentTracer tracer = new SentTracer();
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                .withStreamTracerFactory(tracer);
        ClientCall<byte[], byte[]> call = channel.newCall(method, options);
        UnaryCall listener = new UnaryCall(tracer);
        call.start(listener, headers(token));
        call.request(2); // one answer; a second would be an error that gRPC reports
        call.sendMessage(request);
        call.halfClose();
        return listener.answered;
    }

    /**
     * The headers of each call.
     *
     * @param token empty for an anonymous client
     */
    static Metadata headers(String token) {
        Metadata headers = new Metadata();
        // A member without a leader then rejects the request at once instead of holding it until the time-out.
        headers.put(HAS_LEADER, "true");
        if (!token.isEmpty()) {
            headers.put(TOKEN, token);
        }
        return headers;
    }

    @Override
    public void onMessage(byte[] message) {
        answer = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        byte[] present = answer;
        if (status.isOk() && present != null) {
            answered.complete(present);
        } else {
            Status failure =
                    status.isOk() ? Status.UNAVAILABLE.withDescription("the call ended without an answer") : status;
            answered.completeExceptionally(new CallFailure(failure, tracer.wasSent));
        }
    }

    /** Records that a call gets a connection, before anything is written to it. */
    private static final class SentTracer extends ClientStreamTracer.Factory {
        private volatile boolean wasSent;

        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            return new ClientStreamTracer() {
                @Override
                public void streamCreated(Attributes connection, Metadata sent) {
                    wasSent = true;
                }
            };
        }
    }
}
