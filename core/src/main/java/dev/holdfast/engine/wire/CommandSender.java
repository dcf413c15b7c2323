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
 * Sends commands to the store: each has a send time, a time-out and exactly one reply or failure. Thread-safe; callers
 * hold no lock of the engine.
 */
public final class CommandSender {

    /**
     * Receives the reply or the failure of a command. Called once, without any lock, on a thread of the store, of the
     * timer, or of the sender.
     */
    public interface Answer {
        /** The store replied. */
        void reply(Reply reply, long sentAt);

        /** The store did not reply, or not in time. */
        void failure(StoreException failure, long sentAt);

        /** The store replied after the time-out, which was reported as a failure. */
        default void late(Reply reply, long sentAt) {}
    }

    /** The sweeps in each time-out, which is noticed late by at most one interval. */
    private static final int SWEEPS_PER_TIMEOUT = 4;

    private final LockStore store;
    private final Environment environment;
    private final ElapsedClock clock;
    private final ClientObservers observers;
    private final long timeoutNanos;
    private final long sweepNanos;
    private final RoundTrips roundTrips = new RoundTrips();

    /**
     * Commands under way, by number. The sweep checks them while there are any. By number, because the order of the
     * sweep must be the same in every run of a simulation, which that of identity hashes is not.
     */
    private final ConcurrentMap<Long, Trip> underWay = new ConcurrentHashMap<>();

    /** Commands that wait for a retry. */
    private final Set<Repetition> paused = ConcurrentHashMap.newKeySet();

    private final AtomicLong numbers = new AtomicLong();

    private final AtomicBoolean sweeping = new AtomicBoolean();

    private volatile boolean isClosed;

    /** The time of the first of consecutive failures; null while the store answers. */
    private volatile @Nullable Long silentSince;

    /** The newest failure by an unavailable store; null while it answers. */
    private volatile @Nullable StoreException lastFailure;

    /** The time of the last reply. */
    private volatile long answeredAt;

    /**
     * Makes a sender.
     *
     * @param observers are notified of each command
     * @param timeout how long a command waits for its reply before its outcome counts as unknown
     * @param shortest the shortest time-out of renewals
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
     * Sends a command that renews a lease. Its time-out is at most that of all commands, and is not delayed by other
     * tasks.
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
            // A store must not throw, but if it does, the sender still gets a failure.
            Failsafe.log("sending a command to the store", t);
            trip.accept(null, t);
        }
    }

    /**
     * Sends an idempotent command, with retries while the store is unavailable: at once after the first failure, then
     * after growing pauses.
     *
     * @param withinNanos the time limit for all attempts together
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

    /** The average of the last few round trips; 0 before the first. */
    public long averageRoundTrip() {
        return roundTrips.average();
    }

    /** How long the store has left all commands unanswered; 0 while it answers. */
    public long silentFor() {
        Long since = silentSince;
        return since == null ? 0 : clock.now() - since;
    }

    /** The failure of the newest command that an unavailable store did not answer; null while it answers. */
    public @Nullable StoreException lastFailure() {
        return silentSince == null ? null : lastFailure;
    }

    /** Whether no command is under way. */
    public boolean isIdle() {
        return underWay.isEmpty() && paused.isEmpty();
    }

    /** Fails all commands without a reply: the client is closed, and timers have ended. */
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

    /** One command that is sent until it gets a reply or its time has passed. */
    private final class Repetition implements Answer {
        private final Command command;
        private final long until;
        private final Answer answer;

        // One attempt is under way at a time.
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
                // An earlier attempt may have ended the hold.
                answer.failure(earlier, sentAt);
            } else {
                answer.reply(reply, sentAt);
            }
        }

        private boolean isRelease() {
            return command instanceof Command.Release || command instanceof Command.ForceRelease;
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one attempt at a time
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

        /** Runs after the pause, or when the client is closed, which ends timers and fails the command. */
        private void resume() {
            if (paused.remove(this)) {
                send(CallerMode.ASYNC);
            }
        }
    }

    private final class Trip extends AtomicBoolean implements BiConsumer<@Nullable Reply, @Nullable Throwable> {

        private static final long serialVersionUID = 1L;

        private final long number;
        /** Kept for the observers; null if there are none. */
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
            Failsafe.run("checking for time-outs", () -> {
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
                if (isFirst) {
                    take(reply);
                    observe(answered, StoreCall.Outcome.ANSWERED);
                } else {
                    answer.late(reply, sentAt);
                }
            });
        }

        private void observe(long endedAt, StoreCall.Outcome outcome) {
            if (observed != null && wasSent) {
                observers.called(observed, endedAt - sentAt, outcome);
            }
        }

        private void take(Reply reply) {
            Throwable thrown = Failsafe.run("handling a reply", () -> answer.reply(reply, sentAt));
            if (thrown != null) {
                // A reply that could not be processed is like one that did not arrive: its effects are unknown.
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
            // Not reported, since the store did not fail.
            fail(
                    new StoreException(
                            Reason.CLOSED, Effect.UNKNOWN, "this client was closed before the store answered", null),
                    null);
        }

        private void fail(StoreException failure) {
            fail(failure, StoreCall.Outcome.FAILED);
        }

        private void fail(StoreException failure, StoreCall.@Nullable Outcome outcome) {
            underWay.remove(number);
            if (compareAndSet(false, true)) {
                if (wasSent && silentSince == null && failure.reason() == Reason.UNAVAILABLE) {
                    // Another command may have got a reply since this one was sent.
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
                Reason.UNAVAILABLE, Effect.UNKNOWN, "this client could not process the answer: " + thrown, thrown);
    }

    private static StoreException asStoreException(@Nullable Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof StoreException known
                ? known
                : new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.UNKNOWN,
                        "the store failed with an unexpected error: " + cause,
                        cause);
    }
}
