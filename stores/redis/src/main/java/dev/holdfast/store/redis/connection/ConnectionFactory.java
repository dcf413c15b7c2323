package dev.holdfast.store.redis.connection;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Stages;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.sentinel.api.async.RedisSentinelAsyncCommands;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Factory of connections that never repeat a command by themselves: to settle a lost answer is up to the engine. */
public final class ConnectionFactory {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionFactory.class);
    private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;

    /** How often a connection is tried before a failure without a reason is believed. */
    private static final int TRIES = 5;

    /** For how many milliseconds a new connection may refuse to be used. */
    private static final int MOST_LOOKS = 1_000;

    /** Far longer than channels on this machine take to be closed. */
    private static final long MAX_CLOSING_SECONDS = 10;

    /** What may stand between the store and its connections. */
    public interface Between {
        Between NOTHING = new Between() {};

        default StatefulRedisConnection<byte[], byte[]> commands(StatefulRedisConnection<byte[], byte[]> made) {
            return made;
        }

        default StatefulRedisPubSubConnection<byte[], byte[]> messages(
                StatefulRedisPubSubConnection<byte[], byte[]> made) {
            return made;
        }
    }

    private final RedisClient client;
    private final Between between;
    private final ClientResources resources;

    /** Null where the program has given its own. */
    private final @Nullable SharedEventLoops shared;

    private final InFlight inFlight;
    private final Duration patience;

    /** Held while a connection is started, so that none is started on threads that are ending. */
    private final Object life = new Object();

    @GuardedBy("life")
    private boolean closed;

    public ConnectionFactory(ConnectionOptions options) {
        AbstractRedisClient theirs = options.client();
        ClientResources given =
                options.resources() == null && theirs != null ? theirs.getResources() : options.resources();
        SharedEventLoops ours = given == null ? SharedEventLoops.acquire() : null;
        this.shared = ours;
        this.resources = ours == null ? requireNonNull(given) : ours.resources();
        this.inFlight = ours == null ? new InFlight() : ours.inFlight();
        this.patience = options.connectTimeout();
        this.between = options.between();
        try {
            // The pipelines of many buckets share the connection to a node; where there is one pipeline it gathers by
            // itself.
            this.client = new AsynchronousClient(options.isCluster() ? FlushConsolidation.of(resources) : resources);
            client.setOptions(
                    options(theirs == null ? ClientOptions.create() : theirs.getOptions(), theirs == null, options));
        } catch (RuntimeException | Error e) {
            if (ours != null) {
                var unused = ours.release();
            }
            throw e;
        }
    }

    // Nothing is sent twice, kept for later, or ended by the driver.
    private static ClientOptions options(ClientOptions base, boolean isOurs, ConnectionOptions wanted) {
        ClientOptions.Builder options = base.mutate()
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .timeoutOptions(TimeoutOptions.create());
        unlessOlder(() -> options.replayFilter(command -> true));
        if (isOurs) {
            unlessOlder(() -> options.maintNotificationsConfig(MaintNotificationsConfig.disabled()));
            options.socketOptions(SocketOptions.builder()
                    .connectTimeout(wanted.connectTimeout())
                    .keepAlive(true)
                    .tcpNoDelay(true)
                    .build());
        }
        // Whoever does not speak TLS says nothing: that is to be found out before the patience for a connection ends.
        Duration greeting = wanted.connectTimeout().multipliedBy(3).dividedBy(4);
        options.sslOptions((wanted.tls() == null ? base.getSslOptions() : wanted.tls())
                .mutate()
                .handshakeTimeout(greeting)
                .build());
        return options.build();
    }

    /** Turns off what the driver may do since some version; before that one it does not do it. */
    private static void unlessOlder(Supplier<?> option) {
        try {
            Object builder = option.get();
            assert builder != null;
        } catch (LinkageError older) {
            LOG.debug("the driver has no such option", older);
        }
    }

    /** How long it may take until a connection can be used. */
    public Duration patience() {
        return patience;
    }

    /** The same server, which is given no longer than that to greet. */
    public RedisURI at(RedisURI server) {
        return at(server, server.getHost(), server.getPort());
    }

    /** Another place, with the user, the database and the security of a server. */
    public RedisURI at(RedisURI like, String host, int port) {
        RedisURI server = RedisURI.create(host, port);
        server.setDatabase(like.getDatabase());
        server.setClientName(like.getClientName());
        server.applySsl(like);
        server.applyAuthentication(like);
        server.setTimeout(patience);
        return server;
    }

    /** A connection for commands. */
    public CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect(RedisURI server) {
        return explained(withReason(() -> client.connectAsync(CODEC, server), TRIES), server)
                .thenCompose(
                        made -> active(() -> pinged(made.async().ping())).thenApply(answer -> between.commands(made)));
    }

    /** A connection on which something is told. */
    public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> listen(RedisURI server) {
        return explained(withReason(() -> client.connectPubSubAsync(CODEC, server), TRIES), server)
                .thenCompose(
                        made -> active(() -> pinged(made.async().ping())).thenApply(answer -> between.messages(made)));
    }

    /** Asks a Sentinel something, on a connection that is closed after it. */
    public <R> CompletionStage<R> askSentinel(
            RedisURI sentinel, Function<RedisSentinelAsyncCommands<byte[], byte[]>, CompletionStage<R>> question) {
        return explained(withReason(() -> client.connectSentinelAsync(CODEC, at(sentinel)), TRIES), sentinel)
                .thenCompose(connection -> active(() -> question.apply(connection.async()))
                        .toCompletableFuture()
                        .orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS)
                        .whenComplete((answer, failure) -> end(connection)));
    }

    /** Whoever may not do that may still lock. */
    private static CompletionStage<String> pinged(CompletionStage<String> ping) {
        return ping.exceptionallyCompose(failure -> RedisFailures.isWordOfServer(failure)
                ? CompletableFuture.completedFuture("")
                : CompletableFuture.failedFuture(Stages.causeOf(failure)));
    }

    /**
     * Asks the first thing on a new connection. The driver says that it is made when it has been greeted, and on
     * another thread that it may be used (as of version 7.7); in between it refuses everything.
     */
    private <R> CompletionStage<R> active(Supplier<CompletionStage<R>> question) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        ask(question, answer, MOST_LOOKS);
        return answer;
    }

    @SuppressWarnings(
            "FutureReturnValueIgnored") // Whoever waits for the answer waits no longer than for the connection.
    private <R> void ask(Supplier<CompletionStage<R>> question, CompletableFuture<R> answer, int looks) {
        try {
            question.get().whenComplete((told, failure) -> {
                if (failure == null) {
                    answer.complete(told);
                } else if (looks > 0 && RedisFailures.isNotYetActive(failure)) {
                    askLater(question, answer, looks - 1);
                } else {
                    answer.completeExceptionally(Stages.causeOf(failure));
                }
            });
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // As above.
    private <R> void askLater(Supplier<CompletionStage<R>> question, CompletableFuture<R> answer, int looks) {
        try {
            scheduler().schedule(() -> ask(question, answer, looks), 1, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private static <T> CompletionStage<T> explained(CompletionStage<T> connection, RedisURI server) {
        return connection.exceptionallyCompose(
                failure -> CompletableFuture.failedFuture(RedisTlsDiagnosis.explained(failure, server)));
    }

    /** Closes a connection, without waiting for it: one that can't be closed in order is gone all the same. */
    @SuppressWarnings("FutureReturnValueIgnored")
    public static void end(StatefulConnection<?, ?> connection) {
        connection.closeAsync();
    }

    /**
     * After a refused password the connection is closed, and a driver that notices this before it looks for the outcome
     * of its greeting only says that its handler is gone, or that the connection was closed (as of version 7.7). Then
     * it is asked again.
     */
    private <T> CompletionStage<T> withReason(Supplier<CompletionStage<T>> connector, int tries) {
        return started(connector)
                .toCompletableFuture()
                .exceptionallyCompose(failure -> tries > 1 && RedisFailures.isWithoutReason(failure)
                        ? withReason(connector, tries - 1)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Starts a connection, but not once this factory is closed. A connection in the making fails when its thread ends,
     * and trying again on such a thread makes the network library log errors.
     */
    private <T> CompletionStage<T> started(Supplier<CompletionStage<T>> connector) {
        synchronized (life) {
            return closed ? CompletableFuture.failedFuture(RedisFailures.closed(Effect.NONE)) : connector.get();
        }
    }

    public ScheduledExecutorService scheduler() {
        return resources.eventExecutorGroup();
    }

    /** What is under way on the threads of the connections. */
    public InFlight inFlight() {
        return inFlight;
    }

    /**
     * Ends all connections that were made here, and the threads if no other store uses them; waits for that, but not on
     * one of these threads.
     */
    public void close() {
        synchronized (life) {
            closed = true;
        }
        CompletableFuture<?> ended = client.shutdownAsync(0, 1, TimeUnit.SECONDS)
                .handle((done, failure) -> "closed")
                .thenCompose(closed -> shared == null ? CompletableFuture.completedFuture(closed) : shared.release())
                .handle((done, failure) -> "ended")
                .toCompletableFuture()
                .completeOnTimeout("late", MAX_CLOSING_SECONDS, TimeUnit.SECONDS);
        if (!(Thread.currentThread() instanceof FastThreadLocalThread)) {
            ended.join();
        }
    }

    /** A server as messages show it. */
    public static String place(RedisURI server) {
        return server.getHost() + ":" + server.getPort();
    }
}
