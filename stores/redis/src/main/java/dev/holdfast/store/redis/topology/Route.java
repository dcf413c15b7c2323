package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The route to the server that currently serves a bucket; it may lead to another server the next time. */
public interface Route {

    /** The connection for sending; null while there is none. */
    @Nullable
    StatefulRedisConnection<byte[], byte[]> current();

    /** Gives up a connection that no longer answers, although it is open. */
    void giveUp(StatefulRedisConnection<byte[], byte[]> broken);

    /**
     * Replaces a connection that has left a batch unanswered for longer than a keep-alive can wait. Either the
     * connection was dropped in between or the server is slow, so a second connection is opened first, and takes over
     * only if the batch is still unanswered then.
     */
    void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent);

    /** Reports what the server refused, so that the route may lead elsewhere from now on. */
    void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why);

    /** Where to send a batch again. */
    record Onward(StatefulRedisConnection<byte[], byte[]> connection, boolean isAsking) {}

    /**
     * Where to send a batch that a server refused before any effect, because it is not, or not at present, the server
     * for it.
     *
     * @param times how often the batch was redirected before
     * @param nanos how long ago it was first sent
     * @return completes when it may be sent again; null if the failure is no redirection, or it is too late
     */
    default @Nullable CompletionStage<Onward> onward(
            StatefulRedisConnection<byte[], byte[]> connection, Throwable failure, int times, long nanos) {
        return null;
    }

    /** The failure that there is no connection. */
    StoreException missing();

    /** The server's name in messages, without credentials. */
    String server();
}
