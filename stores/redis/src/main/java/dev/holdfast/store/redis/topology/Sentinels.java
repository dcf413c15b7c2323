package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ReconnectingConnection;
import dev.holdfast.store.redis.connection.RedisFailures;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the primary by asking all Sentinels at once. After a fail-over some of them may still name the old primary, for
 * a moment or as long as they are partitioned, so the answer with the latest election wins. A subscription to each
 * Sentinel reports a fail-over even while the connection to the old primary is open.
 */
final class Sentinels implements PrimaryLocator {

    /** How long to wait for the other Sentinels after the first answer. */
    private static final long GRACE_MILLIS = 100;

    private static final byte[] MOVED = "+switch-master".getBytes(StandardCharsets.US_ASCII);

    private final ConnectionFactory connectionFactory;
    private final RedisURI servers;
    private final String master;
    private final List<ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>>> subscriptions =
            new ArrayList<>();
    private volatile Runnable listener = () -> {};

    /**
     * Doesn't connect yet.
     *
     * @param servers names the Sentinels and the primary, and has the user, the database and the TLS settings of the
     *     latter
     */
    Sentinels(ConnectionFactory connectionFactory, RedisURI servers) {
        this.connectionFactory = connectionFactory;
        this.servers = servers;
        this.master = String.valueOf(servers.getSentinelMasterId());
        for (RedisURI sentinel : servers.getSentinels()) {
            subscriptions.add(new ReconnectingConnection<>(
                    () -> connectionFactory.listen(connectionFactory.at(sentinel)),
                    new Subscription()::make,
                    connectionFactory,
                    "the Redis Sentinel at " + ConnectionFactory.place(sentinel)));
        }
    }

    @Override
    public void onMove(Runnable newListener) {
        listener = newListener;
        subscriptions.forEach(ReconnectingConnection::start);
    }

    @Override
    public String name() {
        return "the Redis primary '" + master + "'";
    }

    @Override
    public StoreException replica() {
        return RedisFailures.unavailable(
                "the server that the Sentinels report as " + name() + " is a replica at present", null);
    }

    @Override
    public boolean mayBeTemporary(Throwable failure) {
        return RedisFailures.ofOpening(failure, name()).reason() == Reason.UNAVAILABLE;
    }

    @Override
    public void close() {
        subscriptions.forEach(ReconnectingConnection::close);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The query also ends without it.
    public CompletionStage<RedisURI> find() {
        SentinelQuery query = new SentinelQuery(servers.getSentinels().size());
        for (RedisURI sentinel : servers.getSentinels()) {
            connectionFactory
                    .askSentinel(sentinel, asked -> asked.master(master.getBytes(StandardCharsets.UTF_8)))
                    .thenApply(SentinelQuery.Vote::read)
                    .whenComplete((vote, failure) -> {
                        if (query.add(vote, failure)) {
                            connectionFactory.scheduler().schedule(query::end, GRACE_MILLIS, TimeUnit.MILLISECONDS);
                        }
                    });
        }
        return query.result().handle((vote, failure) -> {
            if (vote == null) {
                throw unknown(failure);
            }
            return connectionFactory.at(servers, vote.host(), vote.port());
        });
    }

    private StoreException unknown(@Nullable Throwable failure) {
        Throwable why = failure == null ? new IllegalStateException("The search ended without a result") : failure;
        if (String.valueOf(Stages.causeOf(why).getMessage()).contains("No such master")) {
            return RedisFailures.denied("the Sentinels know no primary named '" + master + "'", why);
        }
        return RedisFailures.ofOpening(why, "every Redis Sentinel that knows " + name());
    }

    /** The subscription to one Sentinel, across its connections. */
    private final class Subscription {
        private volatile boolean isRepeated;

        CompletionStage<?> make(StatefulRedisPubSubConnection<byte[], byte[]> made) {
            made.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(byte[] channel, byte[] message) {
                    if (new String(message, StandardCharsets.UTF_8).startsWith(master + " ")) {
                        listener.run();
                    }
                }
            });
            return made.async().subscribe(MOVED).toCompletableFuture().thenRun(() -> {
                if (isRepeated) {
                    listener.run(); // A message may have been missed.
                }
                isRepeated = true;
            });
        }
    }
}
