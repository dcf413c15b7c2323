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
 * A thread that waits for an answer on a connection that the network has forgotten waits for as long as the driver lets
 * it, which may be longer than what is left of a session. So the next keep-alive takes another lane, with a connection
 * of its own. Once that one is answered, the server is well and the first connection is not, so it is ended. A server
 * that is merely slow answers on the first connection first, and nothing is ended. Of a pool there may be no other
 * connection to try: there the first is ended at once.
 */

/** The lanes of what is about sessions alone: one is used, and another while that one does not answer. Thread-safe. */
public final class SessionLanes implements AutoCloseable {

    /** Bounds the threads that wait for an answer, and the connections. */
    static final int LANES = 3;

    private static final Logger LOG = LoggerFactory.getLogger(SessionLanes.class);

    private final List<Lane> lanes;
    private final Executor executor;
    private final LongSupplier ticks;
    private final boolean isPool;
    private final IntConsumer whenSilent;
    private final IntConsumer whenNeedless;

    /** The number of the lane that is used as long as it answers. */
    private volatile int preferred;

    /** How long a keep-alive waits for its answer, as the last one said. */
    private volatile long patienceNanos = Long.MAX_VALUE;

    /**
     * Makes the lanes; none has a connection yet.
     *
     * @param trips makes the trips of the lane with that number
     * @param ticks the monotonic time in nanoseconds
     * @param isPool whether connections are of a pool that may have no other
     * @param whenSilent called on the executor with the number of a lane whose connection is to be ended
     * @param whenNeedless called on the executor with the number of a lane that was used in place of one that answers
     *     again
     */
    public SessionLanes(
            IntFunction<Batcher.Trip> trips,
            int maxBatch,
            Executor executor,
            LongSupplier ticks,
            boolean isPool,
            IntConsumer whenSilent,
            IntConsumer whenNeedless) {
        this.executor = executor;
        this.ticks = ticks;
        this.isPool = isPool;
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
            patienceNanos = keepAlive.responseTimeout().toNanos();
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
            if (isPool && oldest != null) {
                leave(lane, oldest);
            }
        }
        return lanes.get(first);
    }

    /** How long a keep-alive waits for its answer. */
    public Duration patience() {
        return Duration.ofNanos(patienceNanos);
    }

    /** What a lane sent then is answered: where others don't answer what was sent before, it is not the server. */
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
            LOG.debug("a connection to the database does not answer; it is ended");
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

    /** Whether the task will be run; never throws, since the answer to a command depends on it. */
    @CanIgnoreReturnValue
    private boolean execute(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            LOG.debug("the store is closed, and with it all connections are");
        } catch (RuntimeException | Error e) {
            LOG.error("a connection to the database that does not answer can't be ended now", e);
        }
        return false;
    }

    /** See {@link Batcher#close}. */
    @Override
    public void close() {
        lanes.forEach(lane -> lane.batcher.close());
    }

    /** A command on its way. */
    private static final class Trip {
        final long sentAt;

        /** Its connection is being ended. */
        final AtomicBoolean isLeft = new AtomicBoolean();

        volatile boolean isOver;

        Trip(long sentAt) {
            this.sentAt = sentAt;
        }
    }

    private final class Lane {
        final int number;
        final Batcher batcher;

        /** It may have a connection. */
        final AtomicBoolean isUsed = new AtomicBoolean();

        /** In the order in which they were sent, which is that in which they are answered. */
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

        /** What has waited for its answer for the longest time; null if nothing does. */
        @Nullable
        Trip oldest() {
            underWay.removeIf(trip -> trip.isOver);
            return underWay.peek();
        }

        /** Whether it has left a command unanswered for longer than a keep-alive waits. */
        boolean isSilent() {
            Trip oldest = oldest();
            return oldest != null && ticks.getAsLong() - oldest.sentAt >= patienceNanos;
        }
    }
}
