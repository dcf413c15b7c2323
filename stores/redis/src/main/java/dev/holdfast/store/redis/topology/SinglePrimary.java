package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ReconnectingConnection;
import dev.holdfast.store.redis.connection.RedisFailures;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A topology with all buckets on one server, the primary if there are several: one connection for commands, and one for
 * messages. When another server becomes the primary, both connect to that one.
 */
public final class SinglePrimary implements Topology, Route {

    private final ConnectionFactory connectionFactory;
    private final PrimaryLocator locator;
    private final RedisSignals signals = new RedisSignals();
    private final ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> commands;
    private final ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>> messages;

    /** The information about the server, as of the last connection for commands. */
    private volatile @Nullable ServerInfo serverInfo;

    /** The newest connections, used or not, with their addresses. */
    private volatile @Nullable Destination commandsAt;

    private volatile @Nullable Destination messagesAt;

    private record Destination(StatefulConnection<?, ?> connection, String place) {}

    public SinglePrimary(ConnectionFactory connectionFactory, PrimaryLocator locator, String channel) {
        this.connectionFactory = connectionFactory;
        this.locator = locator;
        byte[] name = channel.getBytes(StandardCharsets.US_ASCII);
        this.commands = new ReconnectingConnection<>(
                () -> locator.find()
                        .thenCompose(at -> connectionFactory.connect(at).thenApply(made -> {
                            commandsAt = new Destination(made, ConnectionFactory.place(at));
                            return made;
                        })),
                made -> infoOf(made.async().info()).thenAccept(found -> {
                    checkRole(found);
                    found.check(locator.name());
                    serverInfo = found;
                }),
                connectionFactory,
                locator.name());
        this.messages = new ReconnectingConnection<>(
                () -> locator.find()
                        .thenCompose(at -> connectionFactory.listen(at).thenApply(made -> {
                            messagesAt = new Destination(made, ConnectionFactory.place(at));
                            return made;
                        })),
                made -> {
                    made.addListener(signals.subscriber());
                    return infoOf(made.async().info("replication"))
                            .thenCompose(found -> {
                                checkRole(found);
                                return made.async().subscribe(name);
                            })
                            .thenRun(signals::subscribed);
                },
                connectionFactory,
                locator.name());
    }

    private void checkRole(ServerInfo found) {
        if (found.isReplica()) {
            throw locator.replica();
        }
    }

    /** A server's information; empty if this user may not ask for it, which does not prevent locking. */
    private static CompletionStage<ServerInfo> infoOf(CompletionStage<String> info) {
        return info.exceptionally(failure -> "").thenApply(ServerInfo::new);
    }

    @Override
    public String name() {
        return locator.name();
    }

    @Override
    public String server() {
        return locator.name();
    }

    @Override
    public Route route(int bucket) {
        return this;
    }

    @Override
    public RedisSignals signals() {
        return signals;
    }

    @Override
    public ScheduledExecutorService scheduler() {
        return connectionFactory.scheduler();
    }

    @Override
    public @Nullable StatefulRedisConnection<byte[], byte[]> current() {
        return commands.current();
    }

    @Override
    public void giveUp(StatefulRedisConnection<byte[], byte[]> broken) {
        if (broken == commands.current()) {
            // A server that leaves a command unanswered sends no messages either, or not along this path.
            messages.giveUp();
        }
        commands.giveUp(broken);
    }

    @Override
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        commands.replace(silent, isSilent, messages::giveUp);
    }

    @Override
    public void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why) {
        if (RedisFailures.isFromReplica(why) && connection == commands.current()) {
            commands.giveUp();
            messages.giveUp();
        }
    }

    /** Reconnects if the primary has moved. */
    private void follow() {
        locator.find().thenAccept(now -> {
            leaveUnlessAt(now, commands, commandsAt);
            leaveUnlessAt(now, messages, messagesAt);
            commands.hurry();
            messages.hurry();
        });
    }

    private static <T extends StatefulConnection<byte[], byte[]>> void leaveUnlessAt(
            RedisURI primary, ReconnectingConnection<T> link, @Nullable Destination made) {
        T present = link.current();
        if (present != null
                && (made == null
                        || made.connection() != present
                        || !made.place().equals(ConnectionFactory.place(primary)))) {
            link.giveUp(present);
        }
    }

    @Override
    public StoreException missing() {
        return RedisFailures.notConnected(name(), commands.failure());
    }

    @Override
    public ServerInfo open(Duration timeout) {
        RedisFailures.awaitOpening(
                commands.opening(timeout, locator::mayBeTemporary)
                        .thenCombine(messages.opening(timeout, locator::mayBeTemporary), (one, other) -> "open"),
                timeout.plus(ReconnectingConnection.GRACE),
                name());
        locator.onMove(this::follow);
        ServerInfo found = serverInfo;
        if (found == null) {
            throw missing();
        }
        return found;
    }

    @Override
    public void close() {
        locator.close();
        commands.close();
        messages.close();
        connectionFactory.close();
    }
}
