package dev.holdfast.store.zookeeper.client;

import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;

/**
 * Where the handle of the client comes from: it is a ZooKeeper session, and another one takes its place when that has
 * expired.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface HandleSource extends AutoCloseable {

    /** Told of what becomes of the handle. */
    interface Listener {
        /**
         * A connection was made, with this time-out of the session. On the event thread of the handle, so before the
         * answers that came through it.
         */
        void negotiated(Duration timeout);

        /** A connection was made, of the session as before or of a new one. */
        void connected();

        /** The session has expired: its ephemeral nodes are gone. The next one is on its way. */
        void expired();
    }

    /**
     * Begins to tell what becomes of the handle. Called once.
     *
     * <p><b>Blocking:</b> until there is a connection.
     *
     * @throws IllegalArgumentException if the client can't read packets of the size of {@link PacketBuffer#DEFAULT}
     * @throws dev.holdfast.spi.StoreException if there is none within that time
     */
    void start(Listener listener, Duration connectTimeout);

    /** The present handle. */
    ZooKeeper handle();

    /**
     * Replaces a handle that is of no use any more, if it is the store's own: one that could not be made, or had no
     * connection for as long as its session lasts. The servers may refuse its session for ever, if they were restored
     * from a state that is older than what it has seen. Called again and again.
     *
     * @param now the monotonic time in nanoseconds
     */
    void tend(long now);

    /** How long the servers keep a session of which they hear nothing. */
    Duration sessionTimeout();

    /** The largest packet that the client reads, in bytes. Asked after the start. */
    int packetBuffer();

    /** Whether the program lends the handle, so that its session goes on when this source is closed. */
    boolean isLent();

    /** Closes the connection if it is the store's own, and leaves its session to expire. Idempotent. */
    @Override
    void close();
}
