package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
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
 * Finds the primary by asking all Sentinels at once. After a fail-over some of them may still name the one before, for
 * a moment or for as long as they are cut off: whoever speaks of the latest election is believed. Each of them is
 * listened to, so that a fail-over is followed though the connection to the old primary is still open.
 */
final class Sentinels implements PrimaryLocator {

    /** For how long the others are waited for when one has answered. */
    private static final long GRACE_MILLIS = 100;

    private static final byte[] MOVED = "+switch-master".getBytes(StandardCharsets.US_ASCII);

    private final ConnectionFactory driver;
    private final RedisURI servers;
    private final String master;
    private final List<ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>>> watches =
            new ArrayList<>();
    private volatile Runnable listener = () -> {};

    /**
     * Asks nobody yet.
     *
     * @param servers names the Sentinels and the primary, and has the user, the database and the security for the
     *     latter
     */
    Sentinels(ConnectionFactory driver, RedisURI servers) {
        this.driver = driver;
        this.servers = servers;
        this.master = String.valueOf(servers.getSentinelMasterId());
        for (RedisURI sentinel : servers.getSentinels()) {
            watches.add(new ReconnectingConnection<>(
                    () -> driver.listen(driver.at(sentinel)),
                    new Subscription()::make,
                    driver,
                    "the Redis Sentinel at " + ConnectionFactory.place(sentinel)));
        }
    }

    @Override
    public void onMove(Runnable newListener) {
        listener = newListener;
        watches.forEach(ReconnectingConnection::start);
    }

    @Override
    public String name() {
        return "the Redis primary '" + master + "'";
    }

    @Override
    public StoreException replica() {
        return new StoreException(
                Reason.UNAVAILABLE,
                Effect.NONE,
                "whom the Sentinels call " + name() + " is a replica at present",
                null);
    }

    @Override
    public boolean mayPass(Throwable failure) {
        return RedisFailures.ofOpening(failure, name()).reason() == Reason.UNAVAILABLE;
    }

    @Override
    public void close() {
        watches.forEach(ReconnectingConnection::close);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The search ends by itself too.
    public CompletionStage<RedisURI> find() {
        SentinelQuery search = new SentinelQuery(servers.getSentinels().size());
        for (RedisURI sentinel : servers.getSentinels()) {
            driver.askSentinel(sentinel, asked -> asked.master(master.getBytes(StandardCharsets.UTF_8)))
                    .thenApply(SentinelQuery.Vote::read)
                    .whenComplete((vote, failure) -> {
                        if (search.heard(vote, failure)) {
                            driver.scheduler().schedule(search::end, GRACE_MILLIS, TimeUnit.MILLISECONDS);
                        }
                    });
        }
        return search.result().handle((vote, failure) -> {
            if (vote == null) {
                throw unknown(failure);
            }
            return driver.at(servers, vote.host(), vote.port());
        });
    }

    private StoreException unknown(@Nullable Throwable failure) {
        Throwable why = failure == null ? new IllegalStateException("The search ended without a word") : failure;
        if (String.valueOf(Stages.causeOf(why).getMessage()).contains("No such master")) {
            return new StoreException(
                    Reason.DENIED, Effect.NONE, "the Sentinels know no primary that is called '" + master + "'", why);
        }
        return RedisFailures.ofOpening(why, "every Redis Sentinel that knows " + name());
    }

    /** What one Sentinel tells, from one connection to the next. */
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
                    listener.run(); // It may have told something meanwhile.
                }
                isRepeated = true;
            });
        }
    }
}
