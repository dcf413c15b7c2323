package dev.holdfast.store.redis;

import dev.holdfast.spi.Randomness;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection, made again when it is lost. Commands that were under way on a lost connection fail and are never sent again by this: whether they had
 * an effect is for the engine to settle. That is why the driver's own reconnection is off.
 *
 * @param <T> the kind of the connection
 */
final class Link<T extends StatefulConnection<byte[], byte[]>> {

    private static final Logger LOG = LoggerFactory.getLogger(Link.class);
    private static final long SHORTEST_PAUSE_MILLIS = 10;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;

    private final Supplier<CompletionStage<T>> connector;
    private final Function<T, CompletionStage<?>> preparation;
    private final ScheduledExecutorService scheduler;
    private final String server;

    private volatile @Nullable T connection;

    /** Guarded by this. */
    private final SplittableRandom random = new SplittableRandom(Randomness.nextLong());

    /** Guarded by this. */
    private boolean connecting;

    private volatile boolean closed;

    /**
     * Connects nothing yet.
     *
     * @param preparation what a new connection is for; it is used when that is done
     */
    Link(
            Supplier<CompletionStage<T>> connector,
            Function<T, CompletionStage<?>> preparation,
            ScheduledExecutorService scheduler,
            String server) {
        this.connector = connector;
        this.preparation = preparation;
        this.scheduler = scheduler;
        this.server = server;
    }

    /** Connects for the first time, and waits for it; whatever goes wrong is thrown as it is. */
    void open(Duration patience) throws ExecutionException, TimeoutException, InterruptedException {
        connect().toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The connection; null while there is none. */
    @Nullable
    T current() {
        T present = connection;
        return present != null && present.isOpen() ? present : null;
    }

    /** Gives a connection up that does not answer any more, though nobody has closed it. */
    void giveUp(T broken) {
        if (broken == connection) {
            lost(broken);
            end(broken);
        }
    }

    /** Connects no more. The client that made the connections closes them. */
    void close() {
        closed = true;
        connection = null;
    }

    private CompletionStage<T> connect() {
        CompletionStage<T> attempt;
        try {
            attempt = connector.get();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return attempt.thenCompose(made -> {
            Watch watch = new Watch(made);
            made.addListener(watch);
            return preparation.apply(made).handle((done, failure) -> {
                if (failure != null) {
                    end(made);
                    throw new CompletionException(failure);
                }
                connection = made;
                if (closed) {
                    connection = null;
                    end(made);
                } else if (!made.isOpen()) {
                    lost(made);
                }
                return made;
            });
        });
    }

    private void lost(T gone) {
        synchronized (this) {
            if (closed || connecting || connection != gone) {
                return;
            }
            connecting = true;
            connection = null;
        }
        LOG.debug("server={} connection lost", server);
        again(SHORTEST_PAUSE_MILLIS);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // A connection that can't be closed in order is gone all the same.
    private static void end(StatefulConnection<?, ?> connection) {
        connection.closeAsync();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // What the attempt comes to is its own affair.
    private void again(long pauseMillis) {
        long jittered;
        synchronized (this) {
            jittered = pauseMillis / 2 + random.nextLong(pauseMillis / 2 + 1);
        }
        try {
            scheduler.schedule(() -> attempt(pauseMillis), jittered, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException shuttingDown) {
            LOG.debug("server={} is not connected to again: the client is shutting down", server);
        }
    }

    private void attempt(long pauseMillis) {
        if (closed) {
            return;
        }
        connect().whenComplete((made, failure) -> {
            if (failure != null) {
                if (!closed) {
                    LOG.debug("server={} can't be connected to again yet", server, failure);
                    again(Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2));
                }
                return;
            }
            synchronized (this) {
                connecting = false;
            }
            if (!made.isOpen()) {
                lost(made);
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
