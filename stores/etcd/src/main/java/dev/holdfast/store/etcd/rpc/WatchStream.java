package dev.holdfast.store.etcd.rpc;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;

/**
 * A stream of watches, each of one key from the present revision on.
 *
 * <p><b>Thread-safety:</b> only one thread at a time may call the methods. The listener may be called inside them, on
 * the same thread.
 */
public final class WatchStream {

    private static final int WITHOUT_PUTS = 0;
    private static final int WITHOUT_DELETIONS = 1;

    /** Receives the messages of a stream. */
    public interface Listener {

        /** Handles a message; messages arrive one at a time and in order. */
        void answered(WatchStream stream, WatchResponse answer);

        /** The stream has ended. */
        void ended(WatchStream stream, String why);
    }

    private final ManagedChannel channel;
    private final String token;
    private final ClientCall<byte[], byte[]> call;
    private boolean isCanceled;

    /** Set before the listener is notified. */
    private volatile boolean hasEnded;

    private WatchStream(ManagedChannel channel, String token) {
        this.channel = channel;
        this.token = token;
        this.call = channel.newCall(EtcdMethods.WATCH, CallOptions.DEFAULT);
    }

    static WatchStream open(ManagedChannel channel, String token, Listener listener) {
        WatchStream stream = new WatchStream(channel, token);
        stream.call.start(stream.new Answers(listener), UnaryCall.headers(token));
        stream.call.request(1);
        return stream;
    }

    ManagedChannel channel() {
        return channel;
    }

    String token() {
        return token;
    }

    /** Whether it has ended. The listener may be notified of that before the stream is returned. */
    public boolean hasEnded() {
        return hasEnded;
    }

    /** Starts a watch that reports when a key is put. */
    public void watchPuts(long id, byte[] key) {
        create(id, key, WITHOUT_DELETIONS);
    }

    /** Starts a watch that reports when a key is deleted. */
    public void watchDeletions(long id, byte[] key) {
        create(id, key, WITHOUT_PUTS);
    }

    private void create(long id, byte[] key, int filter) {
        MessageWriter request =
                new MessageWriter().bytes(1, key).present(5, filter).number(7, id);
        send(1, request);
    }

    /** Ends a watch. */
    public void cancel(long id) {
        send(2, new MessageWriter().number(1, id));
    }

    /** Requests a progress message, to see whether the server still answers. */
    public void probe() {
        send(3, new MessageWriter());
    }

    private void send(int field, MessageWriter request) {
        if (!isCanceled) {
            call.sendMessage(new MessageWriter().message(field, request).toBytes());
        }
    }

    /** Ends the stream. */
    public void end() {
        if (!isCanceled) {
            isCanceled = true;
            call.cancel("no longer needed", null);
        }
    }

    private final class Answers extends ClientCall.Listener<byte[]> {
        private final Listener listener;

        Answers(Listener listener) {
            this.listener = listener;
        }

        @Override
        public void onMessage(byte[] message) {
            WatchResponse answer;
            try {
                answer = WatchResponse.of(new MessageReader(message));
            } catch (IllegalArgumentException e) {
                end(String.valueOf(e.getMessage()));
                return;
            }
            listener.answered(WatchStream.this, answer);
            call.request(1);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end(status.toString());
        }

        private void end(String why) {
            hasEnded = true;
            listener.ended(WatchStream.this, why);
        }
    }
}
