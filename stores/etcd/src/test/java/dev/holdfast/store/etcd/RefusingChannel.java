package dev.holdfast.store.etcd;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A channel that refuses some calls of a method while they are started, as one does without a connection. */
final class RefusingChannel extends ManagedChannel {

    private final ManagedChannel channel;
    private final String method;
    private final AtomicInteger left = new AtomicInteger();

    RefusingChannel(ManagedChannel channel, String method) {
        this.channel = channel;
        this.method = method;
    }

    /** Refuses the next calls. */
    void refuse(int times) {
        left.set(times);
    }

    @Override
    public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> called, CallOptions options) {
        boolean isRefused = called.getFullMethodName().equals(method) && left.getAndDecrement() > 0;
        return isRefused ? new Refused<>() : channel.newCall(called, options);
    }

    private static final class Refused<Q, A> extends ClientCall<Q, A> {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
            listener.onClose(Status.UNAVAILABLE, new Metadata());
        }

        @Override
        public void request(int messages) {}

        @Override
        public void cancel(String why, Throwable cause) {}

        @Override
        public void halfClose() {}

        @Override
        public void sendMessage(Q message) {}
    }

    @Override
    public String authority() {
        return channel.authority();
    }

    @Override
    public ManagedChannel shutdown() {
        return channel.shutdown();
    }

    @Override
    public ManagedChannel shutdownNow() {
        return channel.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return channel.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return channel.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return channel.awaitTermination(timeout, unit);
    }
}
