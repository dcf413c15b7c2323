package dev.holdfast.store.zookeeper.client;

import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;

/**
 * The source of the client's handle. A handle has one ZooKeeper session; another handle replaces it when that session
 * has expired.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface HandleSource extends AutoCloseable {

    /** Receives the events of the handle. */
    interface Listener {
        /**
         * A connection was made, with this session time-out. Called on the event thread of the handle, that is, before
         * the answers of this connection.
         */
        void negotiated(Duration timeout);

        /** A connection was made, for the same session or a new one. */
        void connected();

        /** The session has expired, with its ephemeral nodes. A new one is being made. */
        void expired();
    }

    /**
     * Starts the handle and the notification of its events. Called once.
     *
     * <p><b>Blocking:</b> until the handle is connected.
     *
     * @throws IllegalArgumentException if the client can't read packets of the size of {@link PacketBuffer#DEFAULT}
     * @throws dev.holdfast.spi.StoreException if the handle is not connected within the time-out
     */
    void start(Listener listener, Duration connectTimeout);

    /** The present handle. */
    ZooKeeper handle();

    /**
     * Replaces a handle of the store's own that could not be created, or was disconnected for its whole session
     * time-out. Servers restored from an older state reject its session forever. Called periodically.
     *
     * @param now the monotonic time in nanoseconds
     */
    void maintain(long now);

    /** How long the servers keep a silent session. */
    Duration sessionTimeout();

    /** The largest packet that the client reads, in bytes. Valid after the start. */
    int packetBuffer();

    /** Whether the program lends the handle, so that its session outlives this source. */
    boolean isLent();

    /** Closes a connection of the store's own and lets its session expire. Idempotent. */
    @Override
    void close();
}
