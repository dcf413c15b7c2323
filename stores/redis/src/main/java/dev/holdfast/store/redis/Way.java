package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.api.StatefulRedisConnection;
import org.jspecify.annotations.Nullable;

/** The way to the server that serves a bucket at present; it may lead to another one the next time that it is asked for. */
interface Way {

    /** The connection on which to send; null while there is none. */
    @Nullable
    StatefulRedisConnection<byte[], byte[]> current();

    /** Gives a connection up that does not answer any more, though nobody has closed it. */
    void giveUp(StatefulRedisConnection<byte[], byte[]> broken);

    /** Hears what the server at the other end refused to do, so that the way may lead elsewhere from now on. */
    void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why);

    /** Why there is no connection. */
    StoreException missing();

    /** What messages call the server: never with credentials. */
    String server();
}
