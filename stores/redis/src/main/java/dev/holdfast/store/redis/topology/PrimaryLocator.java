package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.RedisFailures;
import io.lettuce.core.RedisURI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Locates the primary, for each new connection. */
public interface PrimaryLocator {

    /** The address of the current primary, as far as is known. */
    CompletionStage<RedisURI> find();

    /** Runs the listener whenever the primary may have changed. */
    void onMove(Runnable listener);

    /** The failure if the server found is a replica. */
    StoreException replica();

    /** The name of the primary in messages, independent of its address and without credentials. */
    String name();

    /**
     * Whether a failure to connect may be temporary, because a fail-over may be under way; then it is retried even when
     * opening.
     */
    boolean mayBeTemporary(Throwable failure);

    /** Stops watching for changes. */
    void close();

    /** The locator for a URI. */
    static PrimaryLocator of(ConnectionFactory connectionFactory, RedisURI uri) {
        return uri.getSentinels().isEmpty() ? fixed(connectionFactory.at(uri)) : new Sentinels(connectionFactory, uri);
    }

    /** A fixed primary. */
    static PrimaryLocator fixed(RedisURI server) {
        return new PrimaryLocator() {
            @Override
            public CompletionStage<RedisURI> find() {
                return CompletableFuture.completedFuture(server);
            }

            @Override
            public void onMove(Runnable listener) {}

            @Override
            public StoreException replica() {
                return RedisFailures.denied(
                        name() + " is a replica, which accepts no writes: connect to the primary", null);
            }

            @Override
            public String name() {
                return "the Redis server at " + ConnectionFactory.place(server);
            }

            @Override
            public boolean mayBeTemporary(Throwable failure) {
                return false;
            }

            @Override
            public void close() {}
        };
    }
}
