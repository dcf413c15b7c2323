package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Batcher;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * On a connection that the network has dropped, a thread waits for an answer for as long as the driver permits, which
 * may be longer than the rest of the session's ttl. So the next keep-alive uses another lane with a separate
 * connection. If that one is answered, the server is well and the first connection is not, so the first is ended. A
 * server that is merely slow answers on the first connection first, and nothing is ended. A pool may have no other
 * connection, so there the first is ended at once.
 */

/** The lanes of commands about sessions only: one is used, and another while that one does not answer. Thread-safe. */
public final class SessionLanes implements AutoCloseable {

    /** Limits the threads that wait for an answer, and the connections. */
    static final int LANES = 3;

    private static final Logger LOG = LoggerFactory.getLogger(SessionLanes.class);

    private final List<Lane> lanes;
    private final Executor executor;
    private final LongSupplier ticks;
    private final ConnectionOrigin origin;
    private final IntConsumer whenSilent;
    private final IntConsumer whenNeedless;

    /** The number of the lane to use while it answers. */
    private volatile int preferred;

    /** The response time-out of the last keep-alive. */
    private volatile long responseTimeoutNanos = Long.MAX_VALUE;

    /**
     * Creates the lanes; none has a connection yet.
     *
     * @param trips creates the round trips of the lane with a number
     * @param ticks the monotonic time in nanoseconds
     * @param origin where connections come from; a pool may have no other
     * @param whenSilent called on the executor with the number of a lane whose connection should be ended
     * @param whenNeedless called on the executor with the number of a lane that replaced one that answers again
     */
    public SessionLanes(
            IntFunction<Batcher.Trip> trips,
            int maxBatch,
            Executor executor,
            LongSupplier ticks,
            ConnectionOrigin origin,
            IntConsumer whenSilent,
            IntConsumer whenNeedless) {
        this.executor = executor;
        this.ticks = ticks;
        this.origin = origin;
        this.whenSilent = whenSilent;
        this.whenNeedless = whenNeedless;
        this.lanes = IntStream.range(0, LANES)
                .mapToObj(number -> new Lane(
                        number, new Batcher(1, (command, one) -> 0, maxBatch, false, executor, trips.apply(number))))
                .toList();
    }

    /** As {@link Batcher#submit}. */
    public CompletionStage<Reply> submit(Command command, CallerMode caller) {
        if (command instanceof Command.KeepAlive keepAlive) {
            responseTimeoutNanos = keepAlive.responseTimeout().toNanos();
        }
        return chosen().submit(command, caller);
    }

    /** The preferred lane, or the first after it that is not silent. */
    private Lane chosen() {
        int first = preferred;
        for (int i = 0; i < LANES; i++) {
            Lane lane = lanes.get((first + i) % LANES);
            if (!lane.isSilent()) {
                return lane;
            }
            Trip oldest = lane.oldest();
            if (origin == ConnectionOrigin.POOL && oldest != null) {
                leave(lane, oldest);
            }
        }
        return lanes.get(first);
    }

    /** The response time-out of a keep-alive. */
    public Duration responseTimeout() {
        return Duration.ofNanos(responseTimeoutNanos);
    }

    /**
     * Handles an answer to a command of a lane: if other lanes have not answered earlier commands, their connections
     * are at fault, not the server.
     */
    private void answered(Lane by, long sentAt) {
        for (Lane other : lanes) {
            Trip oldest = other == by ? null : other.oldest();
            if (oldest == null) {
                if (by.number == preferred && other != by && other.isUsed.compareAndSet(true, false)) {
                    execute(() -> whenNeedless.accept(other.number));
                }
            } else if (oldest.sentAt - sentAt < 0 && other.isSilent()) {
                preferred = by.number;
                leave(other, oldest);
            }
        }
    }

    private void leave(Lane silent, Trip oldest) {
        if (oldest.isLeft.compareAndSet(false, true)) {
            LOG.debug("a connection to the database does not respond; it is closed");
            if (!execute(() -> end(silent, oldest))) {
                oldest.isLeft.set(false);
            }
        }
    }

    private void end(Lane silent, Trip oldest) {
        if (silent.oldest() == oldest) {
            whenSilent.accept(silent.number);
        }
    }

    /**
     * Runs a task on the executor; returns whether it was accepted. Never throws, because it may be called while a
     * command is answered.
     */
    @CanIgnoreReturnValue
    private boolean execute(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            LOG.debug("the store is closed, and all its connections with it");
        } catch (RuntimeException | Error e) {
            LOG.error("an unresponsive connection to the database can't be closed at present", e);
        }
        return false;
    }

    /** See {@link Batcher#close}. */
    @Override
    public void close() {
        lanes.forEach(lane -> lane.batcher.close());
    }

    /** A command under way. */
    private static final class Trip {
        final long sentAt;

        /** Whether its connection is being ended. */
        final AtomicBoolean isLeft = new AtomicBoolean();

        volatile boolean isOver;

        Trip(long sentAt) {
            this.sentAt = sentAt;
        }
    }

    private final class Lane {
        final int number;
        final Batcher batcher;

        /** Whether it may have a connection. */
        final AtomicBoolean isUsed = new AtomicBoolean();

        /** In the order in which commands were sent, which is the order of the answers. */
        private final Queue<Trip> underWay = new ConcurrentLinkedQueue<>();

        Lane(int number, Batcher batcher) {
            this.number = number;
            this.batcher = batcher;
        }

        CompletionStage<Reply> submit(Command command, CallerMode caller) {
            Trip trip = new Trip(ticks.getAsLong());
            underWay.add(trip);
            isUsed.set(true);
            return batcher.submit(command, caller).whenComplete((reply, failure) -> {
                trip.isOver = true;
                underWay.removeIf(one -> one.isOver);
                if (reply != null) {
                    answered(this, trip.sentAt);
                }
            });
        }

        /** The command that has waited longest for its answer; null if none is under way. */
        @Nullable
        Trip oldest() {
            underWay.removeIf(trip -> trip.isOver);
            return underWay.peek();
        }

        /** Whether a command has been unanswered for longer than a keep-alive waits. */
        boolean isSilent() {
            Trip oldest = oldest();
            return oldest != null && ticks.getAsLong() - oldest.sentAt >= responseTimeoutNanos;
        }
    }
}
