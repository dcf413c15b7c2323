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
import java.util.concurrent.ExecutionException;
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
 * A connection that is made again when it is lost. Commands that were under way on a lost connection fail and are never
 * sent again by this: whether they had an effect is for the engine to settle. That is why the driver's own reconnection
 * is off.
 *
 * @param <T> the kind of the connection
 */
public final class ReconnectingConnection<T extends StatefulConnection<byte[], byte[]>> {

    private static final Logger LOG = LoggerFactory.getLogger(ReconnectingConnection.class);
    /** How much longer whoever waits for an attempt waits than it may take: the attempt says better what is wrong. */
    public static final Duration GRACE = Duration.ofSeconds(1);

    /** So many are made at a time beside one that does not answer: each may get lost on its way too. */
    private static final int MOST_REPLACEMENTS = 3;

    private static final long SHORTEST_PAUSE_MILLIS = 10;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;

    private final Supplier<CompletionStage<T>> connector;
    private final Function<T, CompletionStage<?>> preparation;
    private final ConnectionFactory driver;
    private final String server;

    private volatile @Nullable T connection;

    /** Why the last attempt failed; null once one has not. */
    private volatile @Nullable Throwable failure;

    @GuardedBy("this")
    private final SplittableRandom random = new SplittableRandom(Randomness.nextLong());

    /**
     * Goes up when a connection is lost, and when one that is being made is not waited for any longer: what older
     * attempts come to is thrown away.
     */
    @GuardedBy("this")
    private int round;

    @GuardedBy("this")
    private boolean connecting;

    /** How many connections are being made beside the present one. */
    @GuardedBy("this")
    private int replacements;

    private volatile boolean closed;

    /**
     * Connects nothing yet.
     *
     * @param connector makes a connection, to wherever it is to lead at that time
     * @param preparation what a new connection is for; it is used when that is done
     */
    public ReconnectingConnection(
            Supplier<CompletionStage<T>> connector,
            Function<T, CompletionStage<?>> preparation,
            ConnectionFactory driver,
            String server) {
        this.connector = connector;
        this.preparation = preparation;
        this.driver = driver;
        this.server = server;
    }

    /** As {@link #opening}, and waits for it; whatever goes wrong is thrown as it is. */
    public void open(Duration patience, Predicate<Throwable> passing)
            throws ExecutionException, TimeoutException, InterruptedException {
        opening(patience, passing).get(patience.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Connects for the first time.
     *
     * @param passing which failures may pass, so that it is tried again while there is time
     */
    public CompletableFuture<T> opening(Duration patience, Predicate<Throwable> passing) {
        CompletableFuture<T> opened = new CompletableFuture<>();
        tryToOpen(opened, passing, SHORTEST_PAUSE_MILLIS);
        return opened.orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS).exceptionallyCompose(late -> {
            // What went wrong the last time tells more than that the time is over.
            Throwable last = failure;
            return CompletableFuture.failedFuture(
                    last != null && Stages.causeOf(late) instanceof TimeoutException ? last : Stages.causeOf(late));
        });
    }

    private void tryToOpen(CompletableFuture<T> opened, Predicate<Throwable> passing, long pauseMillis) {
        connect(currentRound()).whenComplete((made, failed) -> {
            if (failed == null) {
                opened.complete(made);
            } else if (!passing.test(Stages.causeOf(failed))) {
                opened.completeExceptionally(Stages.causeOf(failed));
            } else if (!opened.isDone() && !closed) {
                failure = Stages.causeOf(failed);
                later(
                        () -> tryToOpen(opened, passing, Math.min(LONGEST_PAUSE_MILLIS / 4, 2 * pauseMillis)),
                        pauseMillis);
            }
        });
    }

    /** Begins to connect, without waiting for it, and again until it succeeds. */
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

    /** Why there is no connection, if that is known. */
    @Nullable
    public Throwable failure() {
        return failure;
    }

    /**
     * Gives a connection up that does not answer any more, though nobody has closed it, or that leads to the wrong
     * place.
     */
    public void giveUp(StatefulConnection<?, ?> broken) {
        if (broken == connection) {
            lost(broken);
            ConnectionFactory.end(broken);
        }
    }

    /**
     * Makes a connection beside one that does not answer. It takes the place of that one, which is ended, unless that
     * one has answered by then.
     *
     * @param isSilent whether that one still does not answer
     * @param whenReplaced done before the silent one is ended
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
        LOG.debug("server={} does not answer on a connection; another is made", server);
        made(made -> takePlace(made, silent, isSilent, present, whenReplaced)).whenComplete((made, failed) -> {
            synchronized (this) {
                replacements--;
            }
            if (failed != null) {
                LOG.debug("server={} another connection can't be made", server, failed);
            }
        });
    }

    private boolean takePlace(T made, T silent, BooleanSupplier isSilent, int attempted, Runnable whenReplaced) {
        synchronized (this) {
            if (closed || attempted != round || connection != silent || !made.isOpen() || !isSilent.getAsBoolean()) {
                return false;
            }
            connection = made;
        }
        whenReplaced.run();
        ConnectionFactory.end(silent);
        return true;
    }

    /** If there is no connection, looks again at once for where to connect, whatever is being tried. */
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

    /** Connects no more. The client that made the connections closes them. */
    public void close() {
        closed = true;
        connection = null;
    }

    private synchronized int currentRound() {
        return round;
    }

    private CompletionStage<T> connect(int attempted) {
        return made(made -> adopt(made, attempted));
    }

    /** Makes a connection, and ends it if it is not taken. */
    private CompletionStage<T> made(Predicate<T> taken) {
        CompletionStage<T> attempt;
        try {
            attempt = connector.get();
        } catch (RuntimeException | Error e) {
            noteUnexpected(e);
            return CompletableFuture.failedFuture(e);
        }
        return attempt.thenCompose(made -> {
            Watch watch = new Watch(made);
            made.addListener(watch);
            return prepared(made).handle((done, failed) -> {
                if (failed != null) {
                    ConnectionFactory.end(made);
                    throw new CompletionException(Stages.causeOf(failed));
                }
                if (!taken.test(made)) {
                    ConnectionFactory.end(made);
                } else if (!made.isOpen()) {
                    lost(made);
                }
                return made;
            });
        });
    }

    private CompletionStage<?> prepared(T made) {
        try {
            return preparation
                    .apply(made)
                    .toCompletableFuture()
                    .orTimeout(driver.patience().toNanos(), TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error e) {
            noteUnexpected(e);
            return CompletableFuture.failedFuture(e);
        }
    }

    private void noteUnexpected(Throwable thrown) {
        if (!(thrown instanceof RedisException || thrown instanceof StoreException)) {
            LOG.error("server={} can't be connected to; it is tried again", server, thrown);
        }
    }

    private synchronized boolean adopt(T made, int attempted) {
        if (closed || attempted != round) {
            return false;
        }
        connection = made;
        connecting = false;
        failure = null;
        return true;
    }

    private void lost(StatefulConnection<?, ?> gone) {
        int next;
        synchronized (this) {
            if (closed || connecting || connection != gone) {
                return;
            }
            connecting = true;
            connection = null;
            next = ++round;
        }
        LOG.debug("server={} connection lost", server);
        again(SHORTEST_PAUSE_MILLIS, next);
    }

    private void again(long pauseMillis, int attempted) {
        later(() -> attempt(pauseMillis, attempted), pauseMillis);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // What the attempt comes to is its own affair.
    private void later(Runnable attempt, long pauseMillis) {
        long jittered;
        synchronized (this) {
            jittered = pauseMillis / 2 + random.nextLong(pauseMillis / 2 + 1);
        }
        try {
            driver.scheduler().schedule(attempt, jittered, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            if (closed) {
                LOG.debug("server={} is not connected to again: the client is shutting down", server, e);
                return;
            }
            // Nobody else would ever try again.
            LOG.error("server={} the driver's timer failed; the JDK's is used for the next attempt", server, e);
            CompletableFuture.delayedExecutor(jittered, TimeUnit.MILLISECONDS).execute(attempt);
        }
    }

    private void attempt(long pauseMillis, int attempted) {
        if (closed || attempted != currentRound()) {
            return;
        }
        connect(attempted).whenComplete((made, failed) -> {
            if (failed != null && !closed && attempted == currentRound()) {
                failure = Stages.causeOf(failed);
                LOG.debug("server={} can't be connected to again yet", server, failed);
                again(Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2), attempted);
            }
        });
    }

    private final class Watch implements RedisConnectionStateListener {
        private final T watched;

        Watch(T watched) {
            this.watched = watched;
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> ignored) {
            lost(watched);
        }
    }
}
