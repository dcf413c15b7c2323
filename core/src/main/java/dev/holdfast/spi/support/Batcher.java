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
 * Group commit for stores whose client has none: what arrives while a trip is under way leaves together in the next.
 * Nothing is delayed to make a batch larger: an idle lane leaves at once.
 *
 * <p>A batcher has a fixed number of lanes, each with at most one trip under way. The store says which lane a command
 * takes; a resource always takes the same one, so that its commands keep their order.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. <b>Memory effects:</b> trips of one lane happen
 * one after another, each happening-before the next, whatever threads make them, so the state of a lane (a
 * connection, say) needs no lock of its own.
 */
public final class Batcher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Batcher.class);

    /** Makes the trips of a lane. */
    @FunctionalInterface
    public interface Trip {
        /**
         * Carries out the commands of one batch and answers each call. A call that is left unanswered, or all that
         * are left when this throws, end with an unknown outcome. Answers reach their callers when the trip is over.
         *
         * @param lane the number of the lane, from 0
         * @param calls at least one, in the order of arrival
         */
        void make(int lane, List<Call> calls);

        /**
         * As {@link #make}, on the thread of a caller that waits: it must not be kept for much longer than a command
         * takes, whatever the store has to wait for, and never for longer than {@link Call#patience}. What would take
         * longer is left to {@link #make}, on the thread of the lane.
         *
         * @return whether the trip was made; if not, nothing was done and the call is not answered
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

    /** One command on its way. */
    public static final class Call {
        private final Command command;
        private final Duration patience;
        private final CompletableFuture<Reply> future = new CompletableFuture<>();
        // Written by the thread that makes the trip, and read by it when the trip is over.
        private @Nullable Reply reply;
        private @Nullable StoreException failure;

        private Call(Command command, Duration patience) {
            this.command = command;
            this.patience = patience;
        }

        /** The command to carry out. */
        public Command command() {
            return command;
        }

        /** How long the sender waits for the reply. */
        public Duration patience() {
            return patience;
        }

        /**
         * Notes the reply; it reaches the caller when the trip is over. A later note for the same call replaces an
         * earlier one.
         */
        public void answer(Reply answer) {
            reply = answer;
            failure = null;
        }

        /** Notes that there will be no reply. */
        public void fail(StoreException why) {
            failure = why;
            reply = null;
        }

        /** Whether a reply or a failure was noted. */
        public boolean isAnswered() {
            return reply != null || failure != null;
        }

        /** Tells the caller. Never throws: those behind it wait for theirs. */
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
                LOG.error("what followed the answer to a command failed", t);
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
     * @param maxBatch the largest batch, at least 1: bounds the time for which one trip keeps its lane
     * @param callerRuns whether a caller that waits makes the trip itself when its lane is idle; for stores whose trips
     *     can't block for longer than a caller may be kept, see {@link Trip#makeAtOnce}
     * @param executor where the other trips run, one task per busy lane; not the caller's thread
     */
    public Batcher(int lanes, LaneChoice choice, int maxBatch, boolean callerRuns, Executor executor, Trip trip) {
        if (lanes < 1 || maxBatch < 1) {
            throw new IllegalArgumentException(
                    "A batcher needs at least one lane and a batch of at least one, not " + lanes + " and " + maxBatch);
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

    /** As {@link #submit(Command, CallerMode, Duration)}, for a sender that waits for as long as it takes. */
    public CompletionStage<Reply> submit(Command command, CallerMode caller) {
        return submit(command, caller, Command.MAX_DURATION);
    }

    /**
     * Sends a command on its way.
     *
     * <p><b>Blocking:</b> with {@link CallerMode#BLOCKING}, for one trip at the most, which is then made by the calling
     * thread; else not at all. <b>Interruption:</b> has no effect here; the flag is parked during the trip and
     * restored after it.
     *
     * @param patience how long the sender waits for the reply
     */
    public CompletionStage<Reply> submit(Command command, CallerMode caller, Duration patience) {
        Call call = new Call(command, patience);
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
     * Refuses what comes from now on, and ends what waits with a failure that says it had no effect. A trip that is
     * under way goes on. Idempotent, and does not wait.
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
                "no thread could be had to carry out this command: " + cause,
                cause);
    }

    private final class Lane {
        private final int number;
        private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();

        /** True while a thread makes trips for this lane, or is about to; who turns it true owns the lane. */
        private final AtomicBoolean busy = new AtomicBoolean();

        /** The executor has refused the last trip, and that was said. Only a hint for the log. */
        private volatile boolean isRefused;

        Lane(int number) {
            this.number = number;
        }

        boolean take() {
            return !busy.get() && busy.compareAndSet(false, true);
        }

        void startIfIdle() {
            // Whoever adds a call looks at busy after it, and whoever lets the lane go looks at the queue after it: no
            // call is left behind.
            if (!waiting.isEmpty() && take()) {
                start(new Drain(List.of()));
            }
        }

        /** Called by the owner of the lane, which hands it on. */
        private void start(Drain drain) {
            try {
                executor.execute(drain);
            } catch (Throwable rejected) {
                // It may have been kept all the same, as by the JDK's executors when no thread can be started.
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
                    // Before what came meanwhile, which may be about the same resource.
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
                    // Those that were taken from the queue are answered; the lane goes on with the next.
                    LOG.error("a lane failed and goes on", t);
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

        /** No thread makes trips just now: what waits has had no effect, and whoever asks again may have more luck. */
        private void failWaiting(List<Call> first, Throwable rejected) {
            if (!closed && !isRefused) {
                isRefused = true;
                LOG.error("the executor of a store refuses trips; the commands that wait for one fail", rejected);
            }
            // Those that come while callers are told find the lane busy, and are failed in their turn.
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

        /** The trips of this lane, made once, whatever the executor does with the task. */
        private final class Drain extends AtomicBoolean implements Runnable {

            private static final long serialVersionUID = 1L;

            private final transient List<Call> first;

            /** @param first what goes before all that waits */
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
                LOG.error("a trip of a store failed; those of its commands fail that were not answered", t);
            }
            for (Call call : calls) {
                if (!call.isAnswered()) {
                    call.fail(t instanceof StoreException known ? known : unanswered(t));
                }
            }
        }
    }
}
