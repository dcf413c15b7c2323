package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Route to the server that serves a bucket at present; it may lead to another server the next time that it is asked
 * for.
 */
public interface Route {

    /** The connection on which to send; null while there is none. */
    @Nullable
    StatefulRedisConnection<byte[], byte[]> current();

    /** Gives a connection up that does not answer any more, though nobody has closed it. */
    void giveUp(StatefulRedisConnection<byte[], byte[]> broken);

    /**
     * A connection has left a trip unanswered for longer than a keep-alive can wait. It may have been dropped in
     * between, or the server is slow: another connection is made, which takes its place if the trip is still unanswered
     * then.
     */
    void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent);

    /** Hears what the server at the other end refused to do, so that the route may lead elsewhere from now on. */
    void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why);

    /** Where to send a trip again. */
    record Onward(StatefulRedisConnection<byte[], byte[]> connection, boolean isAsking) {}

    /**
     * Where a trip is to be sent that a server has refused before it had any effect, because it is not, or not now, the
     * one to ask.
     *
     * @param times how often the trip was sent on before
     * @param nanos how long ago it was begun
     * @return a stage that ends when it may be sent again; null if the failure is another one, or it is too late to ask
     *     again
     */
    default @Nullable CompletionStage<Onward> onward(
            StatefulRedisConnection<byte[], byte[]> connection, Throwable failure, int times, long nanos) {
        return null;
    }

    /** Why there is no connection. */
    StoreException missing();

    /** What messages call the server: never with credentials. */
    String server();
}
