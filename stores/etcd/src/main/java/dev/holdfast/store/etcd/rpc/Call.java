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

/** A call with one request and one answer, which remembers whether it was sent. */
final class Call extends ClientCall.Listener<byte[]> {

    private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> HAS_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private final CompletableFuture<byte[]> answered = new CompletableFuture<>();
    private final SentTracer tracer;
    private byte @Nullable [] answer;

    private Call(SentTracer tracer) {
        this.tracer = tracer;
    }

    /** Calls. The result fails with a {@link CallFailure}. */
    static CompletableFuture<byte[]> start(
            Channel channel, MethodDescriptor<byte[], byte[]> method, byte[] request, String token, Duration timeout) {
        SentTracer tracer = new SentTracer();
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
                .withStreamTracerFactory(tracer);
        ClientCall<byte[], byte[]> call = channel.newCall(method, options);
        Call listener = new Call(tracer);
        call.start(listener, headers(token));
        call.request(2); // an answer, and what must not follow it
        call.sendMessage(request);
        call.halfClose();
        return listener.answered;
    }

    /**
     * What goes with each call.
     *
     * @param token empty for nobody
     */
    static Metadata headers(String token) {
        Metadata headers = new Metadata();
        // A member without a leader refuses at once, instead of keeping the request until its time is over.
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

    /** Notices when a call gets a connection, before anything is written to it. */
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
