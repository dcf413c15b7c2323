package dev.holdfast.store.redis.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.spi.support.Stages;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is re-established when it is lost. It never repeats the commands in flight on a lost connection:
 * these fail, and the engine settles whether they had an effect. That is why the driver's own reconnection is off.
 *
 * @param <T> the type of the connection
 */
public final class ReconnectingConnection<T extends StatefulConnection<byte[], byte[]>> {

    private static final Logger LOG = LoggerFactory.getLogger(ReconnectingConnection.class);
    /** How much longer a caller waits than the attempt may take: the attempt's own failure explains more. */
    public static final Duration GRACE = Duration.ofSeconds(1);

    /** The maximum number of simultaneous replacements for a silent connection: each of them may get lost too. */
    private static final int MOST_REPLACEMENTS = 3;

    private static final long SHORTEST_PAUSE_MILLIS = 10;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;

    private final Supplier<CompletionStage<T>> connector;
    private final Function<T, CompletionStage<?>> preparation;
    private final ConnectionFactory connectionFactory;
    private final String server;

    private volatile @Nullable T connection;

    /** Why the last attempt failed; null after a success. */
    private volatile @Nullable Throwable failure;

    @GuardedBy("this")
    private final SplittableRandom random = new SplittableRandom(Randomness.nextLong());

    /**
     * Incremented when a connection is lost or an attempt is superseded; results of attempts from earlier rounds are
     * discarded.
     */
    @GuardedBy("this")
    private int round;

    @GuardedBy("this")
    private boolean connecting;

    /** The number of replacements being made. */
    @GuardedBy("this")
    private int replacements;

    private volatile boolean closed;

    /**
     * Doesn't connect yet.
     *
     * @param connector makes a connection to the right address at that time
     * @param preparation prepares a new connection before it is used
     */
    public ReconnectingConnection(
            Supplier<CompletionStage<T>> connector,
            Function<T, CompletionStage<?>> preparation,
            ConnectionFactory connectionFactory,
            String server) {
        this.connector = connector;
        this.preparation = preparation;
        this.connectionFactory = connectionFactory;
        this.server = server;
    }

    /**
     * Connects for the first time.
     *
     * @param temporary which failures are temporary, and are retried until the time-out
     */
    public CompletableFuture<T> opening(Duration timeout, Predicate<Throwable> temporary) {
        CompletableFuture<T> opened = new CompletableFuture<>();
        tryToOpen(opened, temporary, SHORTEST_PAUSE_MILLIS);
        return opened.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).exceptionallyCompose(late -> {
            // The last failure explains more than a time-out.
            Throwable last = failure;
            return CompletableFuture.failedFuture(
                    last != null && Stages.causeOf(late) instanceof TimeoutException ? last : Stages.causeOf(late));
        });
    }

    private void tryToOpen(CompletableFuture<T> opened, Predicate<Throwable> temporary, long pauseMillis) {
        connect(currentRound()).whenComplete((connected, failed) -> {
            if (failed == null) {
                opened.complete(connected);
            } else if (!temporary.test(Stages.causeOf(failed))) {
                opened.completeExceptionally(Stages.causeOf(failed));
            } else if (!opened.isDone() && !closed) {
                failure = Stages.causeOf(failed);
                later(
                        () -> tryToOpen(opened, temporary, Math.min(LONGEST_PAUSE_MILLIS / 4, 2 * pauseMillis)),
                        pauseMillis);
            }
        });
    }

    /** Starts to connect without waiting, and retries until it succeeds. */
    public void start() {
        synchronized (this) {
            if (closed || connecting || connection != null) {
                return;
            }
            connecting = true;
        }
        attempt(SHORTEST_PAUSE_MILLIS, currentRound());
    }

    /** The connection; null while there is none. */
    @Nullable
    public T current() {
        T present = connection;
        return present != null && present.isOpen() ? present : null;
    }

    /** Why there is no connection, if known. */
    @Nullable
    public Throwable failure() {
        return failure;
    }

    /** Gives up a connection that no longer answers although it is open, or that leads to the wrong server. */
    public void giveUp(StatefulConnection<?, ?> broken) {
        if (broken == connection) {
            lost(broken);
            ConnectionFactory.end(broken);
        }
    }

    /** Gives up the current connection, if there is one. */
    public void giveUp() {
        T present = current();
        if (present != null) {
            giveUp(present);
        }
    }

    /**
     * Replaces a silent connection by a new one, unless the silent one has answered by the time the new one is ready.
     *
     * @param isSilent whether the old connection is still silent
     * @param whenReplaced runs before the silent connection is closed
     */
    public void replace(T silent, BooleanSupplier isSilent, Runnable whenReplaced) {
        int present;
        synchronized (this) {
            if (closed || connection != silent || replacements == MOST_REPLACEMENTS) {
                return;
            }
            replacements++;
            present = round;
        }
        LOG.debug("server={} does not respond on a connection; another one is opened", server);
        connected(connected -> takePlace(connected, silent, isSilent, present, whenReplaced))
                .whenComplete((connected, failed) -> {
                    synchronized (this) {
                        replacements--;
                    }
                    if (failed != null) {
                        LOG.debug("server={} another connection can't be opened", server, failed);
                    }
                });
    }

    private boolean takePlace(T connected, T silent, BooleanSupplier isSilent, int attempted, Runnable whenReplaced) {
        synchronized (this) {
            if (closed
                    || attempted != round
                    || connection != silent
                    || !connected.isOpen()
                    || !isSilent.getAsBoolean()) {
                return false;
            }
            connection = connected;
        }
        whenReplaced.run();
        ConnectionFactory.end(silent);
        return true;
    }

    /** If there is no connection, starts a new attempt at once, in place of the current one. */
    public void hurry() {
        int present;
        synchronized (this) {
            if (closed || !connecting) {
                return;
            }
            present = ++round;
        }
        attempt(SHORTEST_PAUSE_MILLIS, present);
    }

    /** Stops connecting. The client closes its connections. */
    public void close() {
        closed = true;
        connection = null;
    }

    private synchronized int currentRound() {
        return round;
    }

    private CompletionStage<T> connect(int attempted) {
        return connected(connected -> adopt(connected, attempted));
    }

    /** Makes a connection, and closes it if it is not accepted. */
    private CompletionStage<T> connected(Predicate<T> isAccepted) {
        CompletionStage<T> attempt;
        try {
            attempt = connector.get();
        } catch (RuntimeException | Error e) {
            noteUnexpected(e);
            return CompletableFuture.failedFuture(e);
        }
        return attempt.thenCompose(connected -> {
            connected.addListener(new LossListener(connected));
            return prepared(connected).handle((done, failed) -> {
                if (failed != null) {
                    ConnectionFactory.end(connected);
                    throw new CompletionException(Stages.causeOf(failed));
                }
                if (!isAccepted.test(connected)) {
                    ConnectionFactory.end(connected);
                } else if (!connected.isOpen()) {
                    lost(connected);
                }
                return connected;
            });
        });
    }

    private CompletionStage<?> prepared(T connected) {
        try {
            return preparation
                    .apply(connected)
                    .toCompletableFuture()
                    .orTimeout(connectionFactory.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error e) {
            noteUnexpected(e);
            return CompletableFuture.failedFuture(e);
        }
    }

    private void noteUnexpected(Throwable thrown) {
        if (!(thrown instanceof RedisException || thrown instanceof StoreException)) {
            LOG.error("server={} can't be connected to; the attempt is repeated", server, thrown);
        }
    }

    private synchronized boolean adopt(T connected, int attempted) {
        if (closed || attempted != round) {
            return false;
        }
        connection = connected;
        connecting = false;
        failure = null;
        return true;
    }

    private void lost(StatefulConnection<?, ?> lostConnection) {
        int next;
        synchronized (this) {
            if (closed || connecting || connection != lostConnection) {
                return;
            }
            connecting = true;
            connection = null;
            next = ++round;
        }
        LOG.debug("server={} connection lost", server);
        retryLater(SHORTEST_PAUSE_MILLIS, next);
    }

    private void retryLater(long pauseMillis, int attempted) {
        later(() -> attempt(pauseMillis, attempted), pauseMillis);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The attempt handles its own outcome.
    private void later(Runnable attempt, long pauseMillis) {
        long jittered;
        synchronized (this) {
            jittered = pauseMillis / 2 + random.nextLong(pauseMillis / 2 + 1);
        }
        try {
            connectionFactory.scheduler().schedule(attempt, jittered, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            if (closed) {
                LOG.debug("server={} is not reconnected: the client is shutting down", server, e);
                return;
            }
            // Nothing else would ever retry.
            LOG.error("server={} the driver's timer failed; the JDK's is used for the next attempt", server, e);
            CompletableFuture.delayedExecutor(jittered, TimeUnit.MILLISECONDS).execute(attempt);
        }
    }

    private void attempt(long pauseMillis, int attempted) {
        if (closed || attempted != currentRound()) {
            return;
        }
        connect(attempted).whenComplete((connected, failed) -> {
            if (failed != null && !closed && attempted == currentRound()) {
                failure = Stages.causeOf(failed);
                LOG.debug("server={} can't be reconnected yet", server, failed);
                retryLater(Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2), attempted);
            }
        });
    }

    private final class LossListener implements RedisConnectionStateListener {
        private final T watched;

        LossListener(T watched) {
            this.watched = watched;
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> ignored) {
            lost(watched);
        }
    }
}
