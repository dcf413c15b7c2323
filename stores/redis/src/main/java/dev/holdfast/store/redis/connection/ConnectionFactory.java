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

/** Creates connections that never repeat a command on their own: settling a lost reply is the engine's task. */
public final class ConnectionFactory {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionFactory.class);
    private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;

    /** How often to connect before a failure without a reason counts. */
    private static final int MAX_TRIES = 5;

    /** For how many milliseconds a new connection may reject commands. */
    private static final int MAX_ACTIVATION_POLLS = 1_000;

    /** Far longer than closing local channels takes. */
    private static final long MAX_CLOSING_SECONDS = 10;

    /** Wraps connections before the store uses them. */
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

    /** Null if the program has provided its own. */
    private final @Nullable SharedEventLoops shared;

    private final InFlight inFlight;
    private final Duration connectTimeout;

    /** Held while a connection is started, so that none starts on threads that are shutting down. */
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
        this.connectTimeout = options.connectTimeout();
        this.between = options.between();
        try {
            // The pipelines of many buckets share the connection to a node; a single pipeline already batches its
            // commands.
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

    // The driver must not repeat, buffer or time out commands.
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
        // A peer without TLS stays silent; this time-out reports that before the connect time-out does.
        Duration greeting = wanted.connectTimeout().multipliedBy(3).dividedBy(4);
        options.sslOptions((wanted.tls() == null ? base.getSslOptions() : wanted.tls())
                .mutate()
                .handshakeTimeout(greeting)
                .build());
        return options.build();
    }

    /** Turns off a feature of newer driver versions; older ones don't have it. */
    private static void unlessOlder(Supplier<?> option) {
        try {
            Object builder = option.get();
            assert builder != null;
        } catch (LinkageError older) {
            LOG.debug("this version of the driver lacks the option", older);
        }
    }

    /** How long it may take until a connection is usable. */
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /** The same server, with that time-out for its greeting. */
    public RedisURI at(RedisURI server) {
        return at(server, server.getHost(), server.getPort());
    }

    /** Another address with the user, the database and the TLS settings of a server. */
    public RedisURI at(RedisURI like, String host, int port) {
        RedisURI server = RedisURI.create(host, port);
        server.setDatabase(like.getDatabase());
        server.setClientName(like.getClientName());
        server.applySsl(like);
        server.applyAuthentication(like);
        server.setTimeout(connectTimeout);
        return server;
    }

    /** Opens a connection for commands. */
    public CompletionStage<StatefulRedisConnection<byte[], byte[]>> connect(RedisURI server) {
        return explained(connectWithReason(() -> client.connectAsync(CODEC, server), MAX_TRIES), server)
                .thenCompose(
                        made -> active(() -> pinged(made.async().ping())).thenApply(answer -> between.commands(made)));
    }

    /** Opens a connection for messages. */
    public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> listen(RedisURI server) {
        return explained(connectWithReason(() -> client.connectPubSubAsync(CODEC, server), MAX_TRIES), server)
                .thenCompose(
                        made -> active(() -> pinged(made.async().ping())).thenApply(answer -> between.messages(made)));
    }

    /** Asks a Sentinel, on a connection that is closed afterwards. */
    public <R> CompletionStage<R> askSentinel(
            RedisURI sentinel, Function<RedisSentinelAsyncCommands<byte[], byte[]>, CompletionStage<R>> question) {
        return explained(connectWithReason(() -> client.connectSentinelAsync(CODEC, at(sentinel)), MAX_TRIES), sentinel)
                .thenCompose(connection -> active(() -> question.apply(connection.async()))
                        .toCompletableFuture()
                        .orTimeout(connectTimeout.toNanos(), TimeUnit.NANOSECONDS)
                        .whenComplete((answer, failure) -> end(connection)));
    }

    /** A user without permission to ping may still lock. */
    private static CompletionStage<String> pinged(CompletionStage<String> ping) {
        return ping.exceptionallyCompose(failure -> RedisFailures.isFromServer(failure)
                ? CompletableFuture.completedFuture("")
                : CompletableFuture.failedFuture(Stages.causeOf(failure)));
    }

    /**
     * Sends the first command on a new connection. The driver reports a connection when its handshake is complete, but
     * activates it afterwards on another thread (as of version 7.7); in between it rejects all commands.
     */
    private <R> CompletionStage<R> active(Supplier<CompletionStage<R>> question) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        ask(question, answer, MAX_ACTIVATION_POLLS);
        return answer;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The caller's wait for the answer has a time-out.
    private <R> void ask(Supplier<CompletionStage<R>> question, CompletableFuture<R> answer, int pollsLeft) {
        try {
            question.get().whenComplete((result, failure) -> {
                if (failure == null) {
                    answer.complete(result);
                } else if (pollsLeft > 0 && RedisFailures.isNotYetActive(failure)) {
                    askLater(question, answer, pollsLeft - 1);
                } else {
                    answer.completeExceptionally(Stages.causeOf(failure));
                }
            });
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // As above.
    private <R> void askLater(Supplier<CompletionStage<R>> question, CompletableFuture<R> answer, int pollsLeft) {
        try {
            scheduler().schedule(() -> ask(question, answer, pollsLeft), 1, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private static <T> CompletionStage<T> explained(CompletionStage<T> connection, RedisURI server) {
        return connection.exceptionallyCompose(
                failure -> CompletableFuture.failedFuture(RedisTlsDiagnosis.explained(failure, server)));
    }

    /** Closes a connection without waiting: one that can't be closed cleanly is lost anyway. */
    @SuppressWarnings("FutureReturnValueIgnored")
    public static void end(StatefulConnection<?, ?> connection) {
        connection.closeAsync();
    }

    /**
     * Retries failures without a reason. After a wrong password the server closes the connection, and if the driver
     * notices that first, it reports only a missing handler or a closed connection (as of version 7.7).
     */
    private <T> CompletionStage<T> connectWithReason(Supplier<CompletionStage<T>> connector, int tries) {
        return started(connector)
                .toCompletableFuture()
                .exceptionallyCompose(failure -> tries > 1 && RedisFailures.isWithoutReason(failure)
                        ? connectWithReason(connector, tries - 1)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Starts a connection, unless this factory is closed: a connecting channel fails when its thread ends, and retrying
     * on such a thread makes Netty log errors.
     */
    private <T> CompletionStage<T> started(Supplier<CompletionStage<T>> connector) {
        synchronized (life) {
            return closed ? CompletableFuture.failedFuture(RedisFailures.closed(Effect.NONE)) : connector.get();
        }
    }

    public ScheduledExecutorService scheduler() {
        return resources.eventExecutorGroup();
    }

    /** The requests in flight on the connections' threads. */
    public InFlight inFlight() {
        return inFlight;
    }

    /**
     * Closes all its connections, and the threads if no other store uses them. Waits for that, unless called on one of
     * these threads.
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

    /** A server's address in messages. */
    public static String place(RedisURI server) {
        return server.getHost() + ":" + server.getPort();
    }
}
