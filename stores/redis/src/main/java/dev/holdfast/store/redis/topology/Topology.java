package dev.holdfast.store.redis.topology;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The servers of a store: which one serves a bucket, and the connections for commands and messages. A lost connection
 * is made again, to the server that is then the right one.
 */
public interface Topology {

    /** Its name in messages, without credentials. */
    String name();

    /**
     * Connects to all servers needed to start.
     *
     * @return the information of one of the servers
     * @throws dev.holdfast.spi.StoreException if that fails or takes too long, or locks would not be safe there
     */
    ServerInfo open(Duration timeout);

    /** The route to the server of a bucket; always the same object. */
    Route route(int bucket);

    /** Buckets that include at least one of each server, for trying out permissions there. */
    default List<Integer> samples() {
        return List.of(0);
    }

    /** The client's name in the script's session records, once this is open. */
    default String nameOf(String client) {
        return client;
    }

    /** Subscribes to a bucket in which a session is opened. The stage completes when that is done. */
    default CompletionStage<?> listen(int bucket) {
        return CompletableFuture.completedFuture(null);
    }

    /** Ends the subscription that a session in this bucket needed. */
    default void ignore(int bucket) {}

    /** The signals from this client's channels. */
    RedisSignals signals();

    /** The executor for delayed tasks. */
    ScheduledExecutorService scheduler();

    /** Closes all its connections. */
    void close();
}
