package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connections of one store to one server: one for commands, one on which it is told. */
final class Connections {

    private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;

    /** How often a connection is tried before a failure without a reason is believed. */
    private static final int TRIES = 5;

    private final RedisClient client;
    private final ClientResources resources;
    private final boolean ownsResources;
    private final Duration connectTimeout;
    private final String server;
    private final Signals signals = new Signals();
    private final Link<StatefulRedisConnection<byte[], byte[]>> commands;
    private final Link<StatefulRedisPubSubConnection<byte[], byte[]>> messages;
    private volatile @Nullable Future<?> ticks;

    Connections(RedisStore.Builder options, String channel) {
        RedisURI uri = options.uri;
        this.server = "the Redis server at " + uri.getHost() + ":" + uri.getPort();
        this.connectTimeout = options.connectTimeout;
        RedisClient theirs = options.client;
        ClientResources given = options.resources == null && theirs != null ? theirs.getResources() : options.resources;
        this.ownsResources = given == null;
        this.resources = given == null
                ? DefaultClientResources.builder()
                        .ioThreadPoolSize(2)
                        .computationThreadPoolSize(2)
                        .build()
                : given;
        this.client = RedisClient.create(resources, uri);
        client.setOptions(options(theirs == null ? ClientOptions.create() : theirs.getOptions(), theirs == null));
        byte[] name = channel.getBytes(StandardCharsets.US_ASCII);
        this.commands = new Link<>(
                () -> withReason(() -> client.connectAsync(CODEC, uri), TRIES),
                made -> CompletableFuture.completedFuture(made),
                resources.eventExecutorGroup(),
                server);
        this.messages = new Link<>(
                () -> withReason(() -> client.connectPubSubAsync(CODEC, uri), TRIES),
                made -> {
                    made.addListener(signals.subscriber());
                    return made.async().subscribe(name).thenRun(signals::subscribed);
                },
                resources.eventExecutorGroup(),
                server);
    }

    /**
     * A server that refuses the password hangs up, and a driver that notices this before it looks for the outcome of its
     * greeting only says that its handler is gone (as of version 7.7). Then it is asked again.
     */
    private static <T> CompletionStage<T> withReason(Supplier<CompletionStage<T>> connector, int tries) {
        return connector
                .get()
                .toCompletableFuture()
                .exceptionallyCompose(failure -> tries > 1 && Failures.isWithoutReason(failure)
                        ? withReason(connector, tries - 1)
                        : CompletableFuture.failedFuture(failure));
    }

    // Nothing is sent twice, kept for later, or ended by the driver: what becomes of a command is for the engine to
    // settle.
    private ClientOptions options(ClientOptions base, boolean isOurs) {
        ClientOptions.Builder options = base.mutate()
                .autoReconnect(false)
                .replayFilter(command -> true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .timeoutOptions(TimeoutOptions.create());
        if (isOurs) {
            options.maintNotificationsConfig(MaintNotificationsConfig.disabled())
                    .socketOptions(SocketOptions.builder()
                            .connectTimeout(connectTimeout)
                            .keepAlive(true)
                            .tcpNoDelay(true)
                            .build());
        }
        return options.build();
    }

    /** The server's place, for messages: never with credentials. */
    String server() {
        return server;
    }

    Link<StatefulRedisConnection<byte[], byte[]>> commands() {
        return commands;
    }

    Signals signals() {
        return signals;
    }

    /** Makes both connections; tells what the server says of itself. */
    ServerFacts open() {
        try {
            commands.open(connectTimeout);
            messages.open(connectTimeout);
        } catch (ExecutionException e) {
            throw Failures.ofOpening(e, server);
        } catch (TimeoutException e) {
            throw Failures.ofOpening(e, server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failures.ofOpening(e, server);
        }
        StatefulRedisConnection<byte[], byte[]> connection = commands.current();
        if (connection == null) {
            throw Failures.notConnected(server);
        }
        // Who may not ask that may still lock.
        return new ServerFacts(await(connection.async().info().exceptionally(failure -> "")));
    }

    /** Tells the server the script, and has it do all that a step may do; throws if that is not permitted or something else is in the place. */
    void probe(Script script, byte[][] keys, String channels) {
        StatefulRedisConnection<byte[], byte[]> connection = commands.current();
        if (connection == null) {
            throw Failures.notConnected(server);
        }
        List<byte[]> arguments = new ArrayList<>(List.of(channels.getBytes(StandardCharsets.US_ASCII)));
        arguments.addAll(Request.probe().arguments());
        List<Object> answers = await(connection
                .async()
                .<List<Object>>eval(script.text(), ScriptOutputType.MULTI, keys, arguments.toArray(byte[][]::new)));
        Answer answer = new Answer((List<?>) answers.get(1), false);
        if (answer.isFailure()) {
            throw Failures.ofStep(answer, server);
        }
    }

    /** Waits for something that belongs to opening. */
    private <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(connectTimeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof StoreException known ? known : Failures.ofOpening(e, server);
        } catch (TimeoutException e) {
            throw Failures.ofOpening(e, server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failures.ofOpening(e, server);
        }
    }

    /** Does something again and again, until this is closed. */
    void every(Duration pause, Runnable work) {
        ticks = resources
                .eventExecutorGroup()
                .scheduleWithFixedDelay(work, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    @SuppressWarnings(
            "FutureReturnValueIgnored") // Nobody waits for the threads to end, and nobody could do anything if they did
    // not.
    void close() {
        Future<?> present = ticks;
        if (present != null) {
            present.cancel(false);
        }
        commands.close();
        messages.close();
        client.shutdownAsync(0, 1, TimeUnit.SECONDS).whenComplete((done, failure) -> {
            if (ownsResources) {
                resources.shutdown(0, 1, TimeUnit.SECONDS);
            }
        });
    }
}
