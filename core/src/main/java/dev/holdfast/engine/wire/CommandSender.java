package dev.holdfast.engine.wire;

import dev.holdfast.Environment;
import dev.holdfast.HoldfastListener.StoreCall;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.observe.ClientObservers;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The way to the store: gives every command a send time, a time-out and exactly one answer. Thread-safe; callers hold
 * no lock of the engine.
 */
public final class CommandSender {

    /**
     * Takes the one answer to a command. Called without any lock, on a thread of the store, of the timer, or of the
     * sender.
     */
    public interface Answer {
        /** The store replied. */
        void reply(Reply reply, long sentAt);

        /** It did not, or not in time. */
        void failure(StoreException failure, long sentAt);

        /** A reply after the time-out, which was answered as a failure. */
        default void late(Reply reply, long sentAt) {}
    }

    /** A time-out is noticed late by at most one part in so many. */
    private static final int SWEEPS_PER_TIMEOUT = 4;

    private final LockStore store;
    private final Environment environment;
    private final ElapsedClock clock;
    private final ClientObservers observers;
    private final long timeoutNanos;
    private final long sweepNanos;
    private final RoundTrips roundTrips = new RoundTrips();

    /**
     * Commands on their way, by their number; looked through by the sweep, which runs while there are any. By number,
     * because the order in which the sweep finds them must be the same in every run of a simulation, which that of
     * identity hashes is not.
     */
    private final ConcurrentMap<Long, Trip> underWay = new ConcurrentHashMap<>();

    /** Commands that are sent again after a pause. */
    private final Set<Repetition> paused = ConcurrentHashMap.newKeySet();

    private final AtomicLong numbers = new AtomicLong();

    private final AtomicBoolean sweeping = new AtomicBoolean();

    private volatile boolean isClosed;

    /** Since when the store has been silent, as of the first failure of an unbroken run; null while it answers. */
    private volatile @Nullable Long silentSince;

    /** Why the newest command failed for which the store was unavailable; null while it answers. */
    private volatile @Nullable StoreException lastFailure;

    /** When the store answered last, whatever that was. */
    private volatile long answeredAt;

    /**
     * Makes the way to a store.
     *
     * @param observers who is told of each command
     * @param timeout how long a command waits for its answer before its outcome is taken as unknown
     * @param shortest the shortest other time-out that a command is sent with
     */
    public CommandSender(
            LockStore store,
            Environment environment,
            ElapsedClock clock,
            ClientObservers observers,
            Duration timeout,
            Duration shortest) {
        this.store = store;
        this.environment = environment;
        this.clock = clock;
        this.observers = observers;
        this.timeoutNanos = timeout.toNanos();
        this.sweepNanos = Math.min(timeoutNanos, shortest.toNanos()) / SWEEPS_PER_TIMEOUT;
        this.answeredAt = clock.now();
    }

    public void send(Command command, CallerMode caller, Answer answer) {
        send(new Trip(numbers.incrementAndGet(), command, answer, timeoutNanos), command, caller, false);
    }

    /**
     * Sends a command that renews a lease. Its time-out waits for no other task, and is at most that of all commands.
     */
    public void sendRenewal(Command command, CallerMode caller, long limitNanos, Answer answer) {
        long timeout = Math.min(limitNanos, timeoutNanos);
        send(new Trip(numbers.incrementAndGet(), command, answer, timeout), command, caller, true);
    }

    private void send(Trip trip, Command command, CallerMode caller, boolean isRenewal) {
        if (isClosed) {
            trip.fail(new StoreException(Reason.CLOSED, Effect.NONE, "this client is closed", null));
            return;
        }
        try {
            trip.begin(clock.now());
            CompletableFuture<Reply> future = store.execute(command, caller, Duration.ofNanos(trip.limitNanos))
                    .toCompletableFuture();
            if (!future.isDone()) {
                underWay.put(trip.number, trip);
                startSweep();
                if (isRenewal) {
                    Environment.Timer alarm = environment.scheduleRenewal(trip.limitNanos, trip::timeOut);
                    var unused = future.whenComplete((reply, failure) -> alarm.cancel());
                }
                if (isClosed) {
                    trip.end();
                }
            }
            var unusedEnd = future.whenComplete(trip);
        } catch (Throwable t) {
            // A store must not throw; but who asked waits for an answer, whatever it was.
            Failsafe.log("sending a command to the store", t);
            trip.accept(null, t);
        }
    }

    /**
     * Sends a command that is harmless when it arrives twice, and again while the store is unavailable: at once after
     * the first failure, then after pauses that grow.
     *
     * @param withinNanos how long all sendings may take together
     */
    public void sendWithin(Command command, CallerMode caller, long withinNanos, Answer answer) {
        new Repetition(command, clock.now() + withinNanos, answer).send(caller);
    }

    /** Sends a command once, and returns its reply as a future, which may fail with a {@link StoreException}. */
    public CompletableFuture<Reply> ask(Command command, CallerMode caller) {
        FutureAnswer answer = new FutureAnswer();
        send(command, caller, answer);
        return answer.future;
    }

    /** As {@link #ask}, by {@link #sendWithin}. */
    public CompletableFuture<Reply> askWithin(Command command, CallerMode caller, long withinNanos) {
        FutureAnswer answer = new FutureAnswer();
        sendWithin(command, caller, withinNanos, answer);
        return answer.future;
    }

    public long p99RoundTrip() {
        return roundTrips.p99();
    }

    /** For how long the store has left every command unanswered; 0 while it answers. */
    public long silentFor() {
        Long since = silentSince;
        return since == null ? 0 : clock.now() - since;
    }

    /** Why the store was unavailable for the newest command that it left without an answer; null while it answers. */
    public @Nullable StoreException lastFailure() {
        return silentSince == null ? null : lastFailure;
    }

    /** Whether nothing is on its way. */
    public boolean isIdle() {
        return underWay.isEmpty() && paused.isEmpty();
    }

    /** What is not answered by now will not be: the client is closed, and timers don't run any more. */
    public void close() {
        isClosed = true;
        for (Trip trip : underWay.values()) {
            trip.end();
        }
        paused.forEach(Repetition::resume);
    }

    private void startSweep() {
        if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
            environment.schedule(sweepNanos, this::sweep);
        }
    }

    private void sweep() {
        try {
            long now = clock.now();
            for (Trip trip : underWay.values()) {
                if (now - trip.sentAt >= trip.limitNanos) {
                    trip.timeOut();
                }
            }
        } finally {
            sweeping.set(false);
            if (!underWay.isEmpty()) {
                startSweep();
            }
        }
    }

    private static final class FutureAnswer implements Answer {
        private final CompletableFuture<Reply> future = new CompletableFuture<>();

        @Override
        public void reply(Reply reply, long sentAt) {
            future.complete(reply);
        }

        @Override
        public void failure(StoreException failure, long sentAt) {
            future.completeExceptionally(failure);
        }
    }

    /** One command that is sent until it is answered or its time is over. */
    private final class Repetition implements Answer {
        private final Command command;
        private final long until;
        private final Answer answer;

        // One sending is under way at a time.
        private volatile int failures;
        private volatile @Nullable StoreException unknown;

        Repetition(Command command, long until, Answer answer) {
            this.command = command;
            this.until = until;
            this.answer = answer;
        }

        private void send(CallerMode caller) {
            long timeout = Math.min(until - clock.now(), timeoutNanos);
            CommandSender.this.send(
                    new Trip(numbers.incrementAndGet(), command, this, timeout), command, caller, false);
        }

        @Override
        public void reply(Reply reply, long sentAt) {
            StoreException earlier = unknown;
            if (earlier != null && reply instanceof Reply.Absent && isRelease()) {
                // An earlier sending may be what ended it.
                answer.failure(earlier, sentAt);
            } else {
                answer.reply(reply, sentAt);
            }
        }

        private boolean isRelease() {
            return command instanceof Command.Release || command instanceof Command.ForceRelease;
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one sending at a time
        public void failure(StoreException failure, long sentAt) {
            StoreException earlier = unknown;
            if (failure.effect() == Effect.UNKNOWN) {
                unknown = failure;
            }
            long pause = failures == 0 ? 0 : Backoff.RESEND.pause(environment, failures - 1);
            failures++;
            if (failure.reason() != Reason.UNAVAILABLE) {
                answer.failure(failure, sentAt);
            } else if (until - clock.now() - pause <= 0) {
                answer.failure(earlier == null || failure.effect() == Effect.UNKNOWN ? failure : earlier, sentAt);
            } else if (pause == 0) {
                send(CallerMode.ASYNC);
            } else {
                paused.add(this);
                environment.schedule(pause, this::resume);
                if (isClosed) {
                    resume();
                }
            }
        }

        /** After its pause, or when the client is closed, which fails it: timers end then. */
        private void resume() {
            if (paused.remove(this)) {
                send(CallerMode.ASYNC);
            }
        }
    }

    private final class Trip extends AtomicBoolean implements BiConsumer<@Nullable Reply, @Nullable Throwable> {

        private static final long serialVersionUID = 1L;

        private final long number;
        /** Kept for those who are told of it; null if nobody is. */
        private final transient @Nullable Command observed;

        private final transient Answer answer;
        private final long limitNanos;

        // Set once, before the command is sent.
        private long sentAt;
        private boolean wasSent;

        Trip(long number, Command command, Answer answer, long limitNanos) {
            this.number = number;
            this.observed = observers.hasListeners() ? command : null;
            this.answer = answer;
            this.limitNanos = limitNanos;
        }

        void begin(long now) {
            sentAt = now;
            wasSent = true;
        }

        @Override
        public void accept(@Nullable Reply reply, @Nullable Throwable failure) {
            if (reply == null) {
                fail(asStoreException(failure));
                return;
            }
            underWay.remove(number);
            Failsafe.run("a look at the clock", () -> {
                answeredAt = clock.now();
                roundTrips.note(answeredAt - sentAt);
            });
            if (silentSince != null) {
                silentSince = null;
                lastFailure = null;
            }
            boolean isFirst = compareAndSet(false, true);
            long answered = answeredAt;
            Trampoline.react(() -> {
                take(reply, isFirst);
                if (isFirst) {
                    observe(answered, StoreCall.Outcome.ANSWERED);
                }
            });
        }

        private void observe(long endedAt, StoreCall.Outcome outcome) {
            if (observed != null && wasSent) {
                observers.called(observed, endedAt - sentAt, outcome);
            }
        }

        private void take(Reply reply, boolean isFirst) {
            if (!isFirst) {
                answer.late(reply, sentAt);
                return;
            }
            Throwable thrown = Failsafe.run("the reaction to an answer", () -> answer.reply(reply, sentAt));
            if (thrown != null) {
                // Nobody knows how far it came: an answer that was not taken is like one that did not come.
                answer.failure(untaken(thrown), sentAt);
            }
        }

        void timeOut() {
            fail(
                    new StoreException(
                            Reason.UNAVAILABLE,
                            Effect.UNKNOWN,
                            "the store did not answer within " + DurationFormat.format(Duration.ofNanos(limitNanos)),
                            null),
                    StoreCall.Outcome.TIMED_OUT);
        }

        void end() {
            // Not reported: the store is not to blame.
            fail(
                    new StoreException(
                            Reason.CLOSED, Effect.UNKNOWN, "this client was closed before an answer came", null),
                    null);
        }

        private void fail(StoreException failure) {
            fail(failure, StoreCall.Outcome.FAILED);
        }

        private void fail(StoreException failure, StoreCall.@Nullable Outcome outcome) {
            underWay.remove(number);
            if (compareAndSet(false, true)) {
                if (wasSent && silentSince == null && failure.reason() == Reason.UNAVAILABLE) {
                    // Another may have been answered since this one was sent.
                    silentSince = sentAt - answeredAt > 0 ? sentAt : answeredAt;
                }
                if (wasSent && failure.reason() == Reason.UNAVAILABLE) {
                    lastFailure = failure;
                }
                Trampoline.react(() -> {
                    answer.failure(failure, sentAt);
                    if (observed != null && outcome != null) {
                        observe(clock.now(), outcome);
                    }
                });
            }
        }
    }

    private static StoreException untaken(Throwable thrown) {
        return new StoreException(
                Reason.UNAVAILABLE, Effect.UNKNOWN, "this client could not take the answer: " + thrown, thrown);
    }

    private static StoreException asStoreException(@Nullable Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof StoreException known
                ? known
                : new StoreException(
                        Reason.UNAVAILABLE, Effect.UNKNOWN, "the store failed unexpectedly: " + cause, cause);
    }
}
