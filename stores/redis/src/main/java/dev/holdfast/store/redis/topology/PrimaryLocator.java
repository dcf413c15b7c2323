package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import io.lettuce.core.RedisURI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Locator of the primary, which is asked for every connection that is made. */
public interface PrimaryLocator {

    /** The address of whoever is the primary now, as far as anybody can tell. */
    CompletionStage<RedisURI> find();

    /** Has something done whenever the primary may be another one than before. */
    void onMove(Runnable listener);

    /** What to say of a server that was found and is a replica. */
    StoreException replica();

    /** What messages call the primary, wherever it is: never with credentials. */
    String name();

    /**
     * Whether a failure to connect may pass, since another server is about to take over, so that it is tried again even
     * at first.
     */
    boolean mayPass(Throwable failure);

    /** Watches no more. */
    void close();

    /** Whoever knows the primary that a URI names. */
    static PrimaryLocator of(ConnectionFactory driver, RedisURI uri) {
        return uri.getSentinels().isEmpty() ? fixed(driver.at(uri)) : new Sentinels(driver, uri);
    }

    /** A server that is the primary for good. */
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
                return new StoreException(
                        StoreException.Reason.DENIED,
                        StoreException.Effect.NONE,
                        name() + " is a replica, which takes no writes: connect to the primary",
                        null);
            }

            @Override
            public String name() {
                return "the Redis server at " + ConnectionFactory.place(server);
            }

            @Override
            public boolean mayPass(Throwable failure) {
                return false;
            }

            @Override
            public void close() {}
        };
    }
}
