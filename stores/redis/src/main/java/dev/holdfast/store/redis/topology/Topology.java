package dev.holdfast.store.redis.topology;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The servers of a store: which of them serves a bucket, and on which connections it is told. Connections that are lost
 * are made again, to whichever server it is then.
 */
public interface Topology {

    /** What messages call it: never with credentials. */
    String name();

    /**
     * Connects for the first time, to all that it takes to begin.
     *
     * @return what the server says of itself, or one of them
     * @throws dev.holdfast.spi.StoreException if that does not come about in time, or locks would not be safe there
     */
    ServerInfo open(Duration patience);

    /** The route to the server of a bucket: always the same object. */
    Route route(int bucket);

    /** Buckets of which each server of the store has one at least, to try out there what is needed. */
    default List<Integer> samples() {
        return List.of(0);
    }

    /** What the script is to call this client in sessions, once this is open. */
    default String nameOf(String client) {
        return client;
    }

    /** A session is opened in a bucket: this client is to be told what happens there. The stage ends when it is. */
    default CompletionStage<?> listen(int bucket) {
        return CompletableFuture.completedFuture(null);
    }

    /** A session has ended in a bucket. */
    default void ignore(int bucket) {}

    /** What is told on the channels of this client. */
    RedisSignals signals();

    /** Where what is due later may wait. */
    ScheduledExecutorService scheduler();

    /** Ends all connections that were made here. */
    void close();
}
