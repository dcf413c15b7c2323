package dev.holdfast.spi.support;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit for stores whose driver has none: commands that arrive during a round trip are sent together in the next
 * one. No command is delayed to make a batch larger: an idle lane starts at once.
 *
 * <p>A batcher has a fixed number of lanes, each with at most one round trip under way. The store chooses the lane of a
 * command; a resource always has the same one, so that its commands keep their order.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. <b>Memory effects:</b> each round trip of a lane
 * happens-before the next, on any threads, so the state of a lane, such as a connection, needs no lock.
 */
public final class Batcher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Batcher.class);

    /** Makes the round trips of a lane. */
    @FunctionalInterface
    public interface Trip {
        /**
         * Executes the commands of one batch and notes a reply for each call. A call without one, also because this
         * throws, ends with an unknown outcome. Callers receive their replies after the round trip.
         *
         * @param lane the number of the lane, from 0
         * @param calls at least one, in the order of arrival
         */
        void make(int lane, List<Call> calls);

        /**
         * As {@link #make}, on the thread of a waiting caller. It must not occupy that thread for much longer than a
         * command takes, even if the store has to wait, and never for longer than {@link Call#timeout}. Longer round
         * trips are left to {@link #make}, on a thread of the lane.
         *
         * @return whether the round trip was made; if not, nothing was done and the call has no reply
         */
        default boolean makeAtOnce(int lane, Call call) {
            make(lane, List.of(call));
            return true;
        }
    }

    /** Chooses the lane of a command. */
    @FunctionalInterface
    public interface LaneChoice {
        /** A number from 0 to {@code lanes - 1}, always the same for the same resource. */
        int laneOf(Command command, int lanes);
    }

    /** One submitted command. */
    public static final class Call {
        private final Command command;
        private final Duration timeout;
        private final CompletableFuture<Reply> future = new CompletableFuture<>();
        // Written and read by the thread that makes the round trip.
        private @Nullable Reply reply;
        private @Nullable StoreException failure;

        private Call(Command command, Duration timeout) {
            this.command = command;
            this.timeout = timeout;
        }

        /** The command to carry out. */
        public Command command() {
            return command;
        }

        /** How long the sender waits for the reply. */
        public Duration timeout() {
            return timeout;
        }

        /**
         * Notes the reply, which the caller receives after the round trip. A later one for the same call replaces it.
         */
        public void answer(Reply answer) {
            reply = answer;
            failure = null;
        }

        /** Notes a failure. */
        public void fail(StoreException why) {
            failure = why;
            reply = null;
        }

        /** Whether a reply or a failure was noted. */
        public boolean isAnswered() {
            return reply != null || failure != null;
        }

        /** Completes the caller's stage. Never throws: the calls after it must be completed too. */
        private void arrive() {
            try {
                if (reply != null) {
                    future.complete(reply);
                } else if (failure != null) {
                    future.completeExceptionally(failure);
                } else {
                    future.completeExceptionally(unanswered(null));
                }
            } catch (Throwable t) {
                LOG.error("an action that followed the reply to a command failed", t);
            }
        }
    }

    private final Lane[] lanes;
    private final LaneChoice choice;
    private final int maxBatch;
    private final boolean callerRuns;
    private final Executor executor;
    private final Trip trip;
    private volatile boolean closed;

    /**
     * Makes a batcher.
     *
     * @param lanes how many lanes, at least 1
     * @param maxBatch the largest batch, at least 1: bounds the duration of a round trip
     * @param callerRuns whether a waiting caller makes the round trip itself if its lane is idle; for stores whose
     *     round trips can't block a caller for too long, see {@link Trip#makeAtOnce}
     * @param executor runs the other round trips, one task per busy lane, and not on the caller's thread
     */
    public Batcher(int lanes, LaneChoice choice, int maxBatch, boolean callerRuns, Executor executor, Trip trip) {
        if (lanes < 1 || maxBatch < 1) {
            throw new IllegalArgumentException(
                    "A batcher needs at least one lane and a batch size of at least one, not " + lanes + " and "
                            + maxBatch);
        }
        this.lanes = new Lane[lanes];
        for (int i = 0; i < lanes; i++) {
            this.lanes[i] = new Lane(i);
        }
        this.choice = choice;
        this.maxBatch = maxBatch;
        this.callerRuns = callerRuns;
        this.executor = executor;
        this.trip = trip;
    }

    /** As {@link #submit(Command, CallerMode, Duration)}, without a time-out. */
    public CompletionStage<Reply> submit(Command command, CallerMode caller) {
        return submit(command, caller, Command.MAX_DURATION);
    }

    /**
     * Submits a command.
     *
     * <p><b>Blocking:</b> with {@link CallerMode#BLOCKING}, for at most one round trip, which the calling thread then
     * makes itself; otherwise not at all. <b>Interruption:</b> has no effect; the flag is cleared during the round trip
     * and restored after it.
     *
     * @param timeout how long the sender waits for the reply
     */
    public CompletionStage<Reply> submit(Command command, CallerMode caller, Duration timeout) {
        Call call = new Call(command, timeout);
        Lane lane = lanes[choice.laneOf(command, lanes.length)];
        if (closed) {
            return CompletableFuture.failedFuture(closedException(StoreException.Effect.NONE));
        }
        if (callerRuns && caller == CallerMode.BLOCKING && lane.waiting.isEmpty() && lane.take()) {
            lane.makeForCaller(call);
        } else {
            lane.waiting.add(call);
            lane.startIfIdle();
        }
        return call.future;
    }

    /**
     * Rejects further commands, and fails queued ones, which have had no effect. A round trip that is under way
     * continues. Idempotent, and does not wait.
     */
    @Override
    public void close() {
        closed = true;
        for (Lane lane : lanes) {
            lane.startIfIdle();
        }
    }

    private static StoreException closedException(StoreException.Effect effect) {
        return new StoreException(StoreException.Reason.CLOSED, effect, "the store was closed by this client", null);
    }

    private static StoreException unanswered(@Nullable Throwable cause) {
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                StoreException.Effect.UNKNOWN,
                "the store did not answer this command",
                cause);
    }

    private static StoreException refused(Throwable cause) {
        return new StoreException(
                StoreException.Reason.UNAVAILABLE,
                StoreException.Effect.NONE,
                "no thread was available to execute this command: " + cause,
                cause);
    }

    private final class Lane {
        private final int number;
        private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();

        /**
         * True while a thread makes round trips for this lane, or is about to. The thread that sets it owns the lane.
         */
        private final AtomicBoolean busy = new AtomicBoolean();

        /** Whether the executor rejected the last round trip, which was logged. Only used for the log. */
        private volatile boolean isRefused;

        Lane(int number) {
            this.number = number;
        }

        boolean take() {
            return !busy.get() && busy.compareAndSet(false, true);
        }

        void startIfIdle() {
            // A thread that adds a call checks busy afterwards, and one that frees the lane checks the queue
            // afterwards: no call is left in the queue.
            if (!waiting.isEmpty() && take()) {
                start(new Drain(List.of()));
            }
        }

        /** Passes on the ownership of the lane. Called by the owner. */
        private void start(Drain drain) {
            try {
                executor.execute(drain);
            } catch (Throwable rejected) {
                // The executor may still have kept it, as those of the JDK do when no thread can be started.
                if (drain.compareAndSet(false, true)) {
                    failWaiting(drain.first, rejected);
                }
            }
        }

        void makeForCaller(Call call) {
            boolean interrupted = Thread.interrupted();
            boolean isMade = true;
            try {
                isMade = makeAtOnce(call);
            } finally {
                if (isMade) {
                    busy.set(false);
                    startIfIdle();
                } else {
                    // Before later calls, which may be about the same resource.
                    start(new Drain(List.of(call)));
                }
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                if (isMade) {
                    call.arrive();
                }
            }
        }

        private void drain(List<Call> first) {
            List<Call> batch = new ArrayList<>(first);
            do {
                try {
                    while (gather(batch)) {
                        if (closed) {
                            batch.forEach(call -> call.fail(closedException(StoreException.Effect.NONE)));
                        } else {
                            make(batch);
                        }
                        batch.forEach(Call::arrive);
                        batch.clear();
                    }
                } catch (Throwable t) {
                    // The calls taken from the queue are completed; the lane continues with the next.
                    LOG.error("a lane failed; it continues", t);
                    batch.forEach(Call::arrive);
                    batch.clear();
                } finally {
                    busy.set(false);
                }
            } while (!waiting.isEmpty() && take());
        }

        private boolean gather(List<Call> batch) {
            while (batch.size() < maxBatch) {
                Call call = waiting.poll();
                if (call == null) {
                    break;
                }
                batch.add(call);
            }
            return !batch.isEmpty();
        }

        /** No thread can make round trips now: queued calls fail without effect, so that their senders may retry. */
        private void failWaiting(List<Call> first, Throwable rejected) {
            if (!closed && !isRefused) {
                isRefused = true;
                LOG.error("the store's executor rejected a batch; the waiting commands fail", rejected);
            }
            // Calls that are added meanwhile find the lane busy, and are failed too.
            first.forEach(call -> refuse(call, rejected));
            do {
                for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
                    refuse(call, rejected);
                }
                busy.set(false);
            } while (!waiting.isEmpty() && take());
        }

        private void refuse(Call call, Throwable rejected) {
            call.fail(closed ? closedException(StoreException.Effect.NONE) : refused(rejected));
            call.arrive();
        }

        /** Makes the round trips of this lane once, even if the executor runs the task twice. */
        private final class Drain extends AtomicBoolean implements Runnable {

            private static final long serialVersionUID = 1L;

            private final transient List<Call> first;

            /** @param first the call that goes before all queued ones */
            Drain(List<Call> first) {
                this.first = first;
            }

            @Override
            public void run() {
                if (compareAndSet(false, true)) {
                    isRefused = false;
                    drain(first);
                }
            }
        }

        private void make(List<Call> calls) {
            try {
                trip.make(number, calls);
            } catch (Throwable t) {
                failed(calls, t);
            }
        }

        private boolean makeAtOnce(Call call) {
            try {
                return trip.makeAtOnce(number, call);
            } catch (Throwable t) {
                failed(List.of(call), t);
                return true;
            }
        }

        private void failed(List<Call> calls, Throwable t) {
            if (!(t instanceof StoreException)) {
                LOG.error("a batch failed; its unanswered commands fail", t);
            }
            for (Call call : calls) {
                if (!call.isAnswered()) {
                    call.fail(t instanceof StoreException known ? known : unanswered(t));
                }
            }
        }
    }
}
