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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All buckets are on one server, which is the primary if there are several: one connection for commands, and one on
 * which the client is told. When another server becomes the primary, both are made anew to that one.
 */
public final class SinglePrimary implements Topology, Route {

    private final ConnectionFactory driver;
    private final PrimaryLocator locator;
    private final RedisSignals signals = new RedisSignals();
    private final ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> commands;
    private final ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>> messages;

    /** What the server of the commands said of itself when it was connected to. */
    private volatile @Nullable ServerInfo facts;

    /** The connections that were made last, used or not, and where they lead to. */
    private volatile @Nullable Destination commandsAt;

    private volatile @Nullable Destination messagesAt;

    private record Destination(StatefulConnection<?, ?> connection, String place) {}

    public SinglePrimary(ConnectionFactory driver, PrimaryLocator locator, String channel) {
        this.driver = driver;
        this.locator = locator;
        byte[] name = channel.getBytes(StandardCharsets.US_ASCII);
        this.commands = new ReconnectingConnection<>(
                () -> locator.find()
                        .thenCompose(at -> driver.connect(at).thenApply(made -> {
                            commandsAt = new Destination(made, ConnectionFactory.place(at));
                            return made;
                        })),
                made -> told(made.async().info()).thenAccept(found -> {
                    checkRole(found);
                    found.check(locator.name());
                    facts = found;
                }),
                driver,
                locator.name());
        this.messages = new ReconnectingConnection<>(
                () -> locator.find()
                        .thenCompose(at -> driver.listen(at).thenApply(made -> {
                            messagesAt = new Destination(made, ConnectionFactory.place(at));
                            return made;
                        })),
                made -> {
                    made.addListener(signals.subscriber());
                    return told(made.async().info("replication"))
                            .thenCompose(found -> {
                                checkRole(found);
                                return made.async().subscribe(name);
                            })
                            .thenRun(signals::subscribed);
                },
                driver,
                locator.name());
    }

    private void checkRole(ServerInfo found) {
        if (found.isReplica()) {
            throw locator.replica();
        }
    }

    /** What a server says of itself; nothing if it is not permitted to ask, which is no reason not to lock. */
    private static CompletionStage<ServerInfo> told(CompletionStage<String> info) {
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
        return driver.scheduler();
    }

    @Override
    public @Nullable StatefulRedisConnection<byte[], byte[]> current() {
        return commands.current();
    }

    @Override
    public void giveUp(StatefulRedisConnection<byte[], byte[]> broken) {
        if (broken == commands.current()) {
            // A server that leaves a command unanswered tells nothing either, or not on this way.
            giveUp(messages);
        }
        commands.giveUp(broken);
    }

    @Override
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        commands.replace(silent, isSilent, () -> giveUp(messages));
    }

    @Override
    public void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why) {
        if (RedisFailures.isOfReplica(why) && connection == commands.current()) {
            leave();
        }
    }

    /** Connects anew, to wherever the primary is now. */
    private void leave() {
        giveUp(commands);
        giveUp(messages);
    }

    /** If another server is the primary by now, goes there. */
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

    private static <T extends StatefulConnection<byte[], byte[]>> void giveUp(ReconnectingConnection<T> link) {
        T present = link.current();
        if (present != null) {
            link.giveUp(present);
        }
    }

    @Override
    public StoreException missing() {
        return RedisFailures.notConnected(name(), commands.failure());
    }

    @Override
    public ServerInfo open(Duration patience) {
        try {
            CompletableFuture.allOf(
                            commands.opening(patience, locator::mayPass), messages.opening(patience, locator::mayPass))
                    .get(patience.plus(ReconnectingConnection.GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw RedisFailures.ofOpening(e, name());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RedisFailures.ofOpening(e, name());
        }
        locator.onMove(this::follow);
        ServerInfo found = facts;
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
        driver.close();
    }
}
