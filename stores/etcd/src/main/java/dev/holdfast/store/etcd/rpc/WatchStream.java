package dev.holdfast.store.etcd.rpc;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;

/**
 * A stream of watches, each of one key from now on.
 *
 * <p><b>Thread-safety:</b> the methods are called by one thread at a time. The listener may be called while one of them
 * runs, by the same thread.
 */
public final class WatchStream {

    private static final int WITHOUT_PUTS = 0;
    private static final int WITHOUT_DELETIONS = 1;

    /** Who is told. */
    public interface Listener {

        /** Takes an answer; one is told at a time, in order. */
        void answered(WatchStream stream, WatchAnswer answer);

        /** The stream has ended. */
        void ended(WatchStream stream, String why);
    }

    private final ManagedChannel channel;
    private final String token;
    private final ClientCall<byte[], byte[]> call;
    private boolean isCanceled;

    /** Set before the listener is told. */
    private volatile boolean hasEnded;

    private WatchStream(ManagedChannel channel, String token) {
        this.channel = channel;
        this.token = token;
        this.call = channel.newCall(EtcdMethods.WATCH, CallOptions.DEFAULT);
    }

    static WatchStream open(ManagedChannel channel, String token, Listener listener) {
        WatchStream stream = new WatchStream(channel, token);
        stream.call.start(stream.new Answers(listener), Call.headers(token));
        stream.call.request(1);
        return stream;
    }

    ManagedChannel channel() {
        return channel;
    }

    String token() {
        return token;
    }

    /** Whether it has ended, of which the listener may have been told before it was returned. */
    public boolean hasEnded() {
        return hasEnded;
    }

    /** Begins a watch that tells when a key is put. */
    public void watchPuts(long id, byte[] key) {
        create(id, key, WITHOUT_DELETIONS);
    }

    /** Begins a watch that tells when a key is deleted. */
    public void watchDeletions(long id, byte[] key) {
        create(id, key, WITHOUT_PUTS);
    }

    private void create(long id, byte[] key, int filter) {
        MessageWriter watch =
                new MessageWriter().bytes(1, key).present(5, filter).number(7, id);
        send(1, watch);
    }

    /** Ends a watch. */
    public void cancel(long id) {
        send(2, new MessageWriter().number(1, id));
    }

    /** Asks for a sign of life. */
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
            WatchAnswer answer;
            try {
                answer = WatchAnswer.of(new MessageReader(message));
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
