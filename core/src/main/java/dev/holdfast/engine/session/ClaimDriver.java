package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.LockMismatchException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ClaimReplyHandler;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Brings a claim from its first sending to a definite answer. The three outcomes granted, refused and unknown are
 * never mixed: an unknown one is settled by raising the session's epoch, after which the old sending can take no
 * effect any more, and asking again with the same id.
 */

/**
 * Sends the claims and yields of one partition of the store, and gives them what it answers. Thread-safe; callers hold
 * no lock of the engine.
 */
public final class ClaimDriver {
    private static final Logger log = LoggerFactory.getLogger(ClaimDriver.class);

    private final Partition partition;
    private final ClientContext context;
    private final Environment environment;

    ClaimDriver(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
        this.environment = context.environment();
    }

    /** Asks for a claim for the first time. */
    public void acquire(Claim claim, int tokens, CallerMode caller) {
        locked(claim, () -> claim.beginSending(context.clock().now()));
        transmit(claim, tokens, Sending.FIRST, caller);
    }

    /** Releases a grant for a new claim, in one step. */
    public void giveWay(Claim next, int tokens) {
        acquire(next, tokens, CallerMode.ASYNC);
    }

    private void transmit(Claim claim, int tokens, Sending sending, CallerMode caller) {
        long epoch = claim.session.epoch;
        long steps = context.clock().steps();
        ClaimRef replaced;
        int weight;
        boolean isTry;
        int number;
        claim.lock().lock();
        try {
            weight = claim.weight;
            replaced = claim.replacedRef();
            isTry = claim.isTry() || claim.isBarging;
            number = claim.sendings;
        } finally {
            claim.lock().unlock();
        }
        Command.Acquire acquire = new Command.Acquire(
                claim.ref,
                epoch,
                sending,
                claim.spec(),
                weight,
                claim.lease,
                isTry ? Waiting.TRY : Waiting.QUEUE,
                tokens);
        Command command = replaced == null ? acquire : new Command.Yield(replaced, acquire);
        partition.wire.send(command, caller, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                answered(claim, tokens, epoch, number, reply, sentAt, steps);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                failed(claim, tokens, epoch, number, failure);
            }
        });
    }

    private void answered(Claim claim, int tokens, long epoch, int number, Reply reply, long sentAt, long steps) {
        if (reply instanceof Reply.Stale) {
            // This sending had no effect; whoever raised the epoch may not have heard that it did.
            locked(claim, () -> note(claim, false));
            againAfterRaise(claim, tokens, epoch, number);
            return;
        }
        take(claim, reply, sentAt, steps);
    }

    /**
     * Takes the state of a claim that the store has told: by a reply, a poll or a signal.
     *
     * @param sentAt when the request was sent that is so answered
     * @param steps how many steps of the wall clock had been seen then
     */
    void take(Claim claim, Reply reply, long sentAt, long steps) {
        DeferredActions out = new DeferredActions();
        StateIntake intake = new StateIntake(claim, sentAt, steps, out);
        claim.lock().lock();
        try {
            note(claim, true);
            if (reply instanceof Reply.ClaimReply state) {
                state.accept(intake);
            } else {
                intake.violation(reply);
            }
            if (claim.isDead && !claim.isSettling) {
                partition.retrier.retract(claim.ref);
            }
        } finally {
            claim.lock().unlock();
            out.send();
        }
        if (claim.own != null && reply instanceof Reply.Granted) {
            context.doubts().signalNews();
        }
    }

    private void failed(Claim claim, int tokens, long epoch, int number, StoreException failure) {
        giveUpIfNeeded(claim, failure);
        if (failure.effect() == Effect.UNKNOWN && context.rules().raisesEpochWhenUnknown()) {
            againAfterRaise(claim, tokens, epoch, number);
        } else {
            Backoff.RESEND.retry(environment, claim.failures, () -> again(claim, tokens, number));
        }
        partition.troubled(failure);
    }

    private void againAfterRaise(Claim claim, int tokens, long epoch, int number) {
        int failures;
        claim.lock().lock();
        try {
            failures = claim.failures;
        } finally {
            claim.lock().unlock();
        }
        partition.keeper.afterRaise(claim.session, epoch, failures, () -> again(claim, tokens, number));
    }

    /**
     * Fails what waits for this claim if a repetition would not help; the claim itself is settled as any that nobody
     * wants. A store that is unavailable is asked again, for a try too: one lost message is no outage, and the store
     * time-out bounds the wait for the answer.
     */
    private void giveUpIfNeeded(Claim claim, StoreException failure) {
        claim.step(out -> {
            note(claim, false);
            claim.wasNeverMade = failure.effect() == Effect.NONE && claim.sendings == 1;
            if (failure.reason() != Reason.UNAVAILABLE) {
                claim.notGranted(
                        Claim.Denial.UNREACHABLE,
                        () -> context.storeFailure(claim.ref.resource().value(), failure),
                        out);
            }
        });
    }

    /** What waits for a queued claim fails: a person has to act before the store can tell anything of it. */
    void deny(Claim claim, StoreException failure) {
        claim.step(out -> claim.notGranted(
                Claim.Denial.UNREACHABLE,
                () -> context.storeFailure(claim.ref.resource().value(), failure),
                out));
    }

    /**
     * Goes on with a claim about which nothing has come or gone for so long that its next step must have been lost: no
     * timer and no answer is that late. The audit calls this, without any lock.
     */
    public void recover(Claim claim) {
        int number;
        claim.lock().lock();
        try {
            number = claim.sendings;
        } finally {
            claim.lock().unlock();
        }
        log.error(
                "resource={} claim={} was forgotten on its way; it is asked for again",
                claim.ref.resource(),
                claim.ref.claim());
        partition.keeper.afterRaise(claim.session, claim.session.epoch, () -> again(claim, 1, number));
    }

    /**
     * Sends a claim once more, or withdraws it if nobody wants it by now.
     *
     * @param number the sending that came to nothing; if it is not the newest, others go on from that
     */
    private void again(Claim claim, int tokens, int number) {
        if (context.isClosing()) {
            // Its session is being closed, and ends it. A withdrawal could arrive before the claim, for the epoch is
            // not raised any more.
            return;
        }
        DeferredActions out = new DeferredActions();
        boolean resend;
        claim.lock().lock();
        try {
            if (claim.sendings != number) {
                return;
            }
            claim.failures++;
            resend = claim.state == Claim.State.SENT && !claim.isDead && claim.session.isAlive();
            if (resend) {
                // In the same step, so that of two that come here one goes on.
                claim.beginSending(context.clock().now());
            } else if (claim.isDead && claim.state == Claim.State.SENT) {
                claim.withdraw(out);
            } else {
                // Its answer was taken, but perhaps not all that followed from it was done.
                claim.react(out);
            }
        } finally {
            claim.lock().unlock();
            out.send();
        }
        if (resend) {
            transmit(claim, tokens, Sending.REPEAT, CallerMode.ASYNC);
        }
    }

    /** Asks for a fresh block of tokens. Safe while local holds are live, and idempotent by the end of the block. */
    public void advance(Claim held, long blockEnd, int tokens) {
        partition.wire.send(
                new Command.Advance(held.ref, blockEnd, tokens, 0), CallerMode.ASYNC, new CommandSender.Answer() {
                    @Override
                    public void reply(Reply reply, long sentAt) {
                        held.step(out -> {
                            held.settledAt = context.clock().now();
                            if (reply instanceof Reply.Absent) {
                                held.vanished(out);
                            } else {
                                held.advanced(reply instanceof Reply.Advanced fresh ? fresh : null, out);
                            }
                        });
                    }

                    @Override
                    public void failure(StoreException failure, long sentAt) {
                        Backoff.RESEND.retry(environment, 0, () -> advanceIfHeld(held, blockEnd, tokens));
                        partition.troubled(failure);
                    }
                });
    }

    /** As {@link #advance}, some time after it was decided. */
    public void advanceIfHeld(Claim held, long blockEnd, int tokens) {
        if (held.state == Claim.State.HELD) {
            advance(held, blockEnd, tokens);
        }
    }

    /** Takes the answer to a poll of one claim: its state, or the failure that any other answer is. */
    private interface PollAnswer extends CommandSender.Answer {
        void state(Reply.ClaimReply state, long sentAt);

        @Override
        default void reply(Reply reply, long sentAt) {
            if (reply instanceof Reply.Polled polled && polled.states().size() == 1) {
                state(polled.states().get(0), sentAt);
            } else {
                failure(ProtocolViolation.reply(reply), sentAt);
            }
        }
    }

    /** Asks whether anyone waits at the store, or for the truth about a claim that is in doubt. */
    public void poll(Claim held) {
        long steps = context.clock().steps();
        long heard = held.contradictions();
        partition.wire.send(new Command.Poll(List.of(held.ref)), CallerMode.ASYNC, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                if (state instanceof Reply.Granted) {
                    held.settleContradictions(heard);
                }
                take(held, state, sentAt, steps);
                context.doubts().signalNews();
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                held.step(out -> held.pollFailed());
                if (held.state == Claim.State.HELD) {
                    if (held.own != null) {
                        held.own.askedSteps = 0;
                    }
                    Backoff.RESEND.retry(environment, 0, () -> pollAgain(held));
                }
                partition.troubled(failure);
            }
        });
    }

    /** Asks whether a pass claim still waits at the store: then those who wait here by now are served by it. */
    public void cover(Claim waiting, CallerMode caller) {
        long steps = context.clock().steps();
        long newest;
        waiting.lock().lock();
        try {
            newest = waiting.newestRequest();
        } finally {
            waiting.lock().unlock();
        }
        partition.wire.send(new Command.Poll(List.of(waiting.ref)), caller, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                locked(waiting, () -> {
                    waiting.isCovering = false;
                    waiting.coverFailures = 0;
                    if (state instanceof Reply.Queued) {
                        // Though it may have been granted since, and that have been pushed before this came.
                        waiting.cover(newest);
                    }
                });
                take(waiting, state, sentAt, steps);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                int failures;
                waiting.lock().lock();
                try {
                    failures = waiting.coverFailures++;
                } finally {
                    waiting.lock().unlock();
                }
                Backoff.RESEND.retry(environment, failures, () -> coverAgain(waiting));
                partition.troubled(failure);
            }
        });
    }

    private static void coverAgain(Claim waiting) {
        waiting.step(out -> {
            waiting.isCovering = false;
            waiting.react(out);
        });
    }

    /**
     * Asks whether a grant that is in doubt was good while one of those who share it held, and tells that one. What
     * can't be told counts as lost.
     */
    public void confirm(Claim held, CompletableFuture<ReleaseOutcome> stage) {
        partition.wire.send(new Command.Poll(List.of(held.ref)), CallerMode.ASYNC, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                boolean isThere = state instanceof Reply.Granted
                        && context.rules().isGood(context.clock().now(), held.deadline());
                stage.complete(isThere ? ReleaseOutcome.RELEASED : ReleaseOutcome.LOST);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                stage.complete(ReleaseOutcome.LOST);
            }
        });
    }

    private void pollAgain(Claim held) {
        if (held.isContradicted() && held.state == Claim.State.HELD) {
            poll(held);
        } else {
            held.step(held::react);
        }
    }

    private static void locked(Claim claim, Runnable change) {
        claim.lock().lock();
        try {
            change.run();
        } finally {
            claim.lock().unlock();
        }
    }

    private void note(Claim claim, boolean isDefinite) {
        claim.underWay = Math.max(0, claim.underWay - 1);
        claim.settledAt = context.clock().now();
        if (isDefinite) {
            claim.wasAnswered = true;
            claim.failures = 0;
        }
    }

    /**
     * Takes the state of a claim that the store has told: a method for each state. Callers hold the claim's lock; what
     * has to be done without it is added to the deferred actions.
     */
    private final class StateIntake implements ClaimReplyHandler {

        private final Claim claim;
        private final long sentAt;
        private final long steps;
        private final DeferredActions out;

        /**
         * For one answer.
         *
         * @param sentAt when the request was sent that is so answered
         * @param steps how many steps of the wall clock had been seen then
         */
        StateIntake(Claim claim, long sentAt, long steps, DeferredActions out) {
            this.claim = claim;
            this.sentAt = sentAt;
            this.steps = steps;
            this.out = out;
        }

        @Override
        public void granted(Reply.Granted granted) {
            if (claim.own != null) {
                noteLease(claim.own, granted);
            }
            boolean wasHeld = claim.state == Claim.State.HELD;
            claim.granted(granted, out);
            if (!wasHeld && claim.state == Claim.State.HELD && claim.isContradicted()) {
                // It was asked after when there was nothing to answer for yet, and nobody would ask again.
                out.add(() -> poll(claim));
            }
            FixedLeaseState own = claim.own;
            if (own != null && claim.state == Claim.State.HELD) {
                out.add(() -> partition.validity.watchLease(claim, own));
            }
        }

        @Override
        public void queued(Reply.Queued queued) {
            claim.queued(out);
            if (claim.state == Claim.State.QUEUED) {
                out.add(() -> partition.poller.add(claim, queued.recheckIn()));
                if (claim.isOvertaken) {
                    claim.isOvertaken = false;
                    out.add(() -> poll(claim));
                }
            }
        }

        @Override
        public void refused(Reply.Refused refused) {
            claim.refusal = refused.detail();
            claim.notGranted(denial(refused), reasonOf(refused), out);
        }

        @Override
        public void absent(Reply.Absent absent) {
            claim.vanished(out);
        }

        @Override
        public void sessionEnded(Reply.SessionEnded ended) {
            out.add(() -> partition.keeper.endedAtStore(claim.session));
        }

        /** A sending that was stale is sent again, and asks for no state; a poll has no epoch. */
        @Override
        public void stale(Reply.Stale stale) {
            violation(stale);
        }

        @Override
        public void unsupported(Reply.Unsupported unsupported) {
            violation(unsupported);
        }

        /** Takes an answer that no store gives to such a request. */
        void violation(Reply reply) {
            claim.notGranted(
                    Claim.Denial.REFUSED,
                    () -> context.storeFailure(claim.ref.resource().value(), ProtocolViolation.reply(reply)),
                    out);
        }

        private void noteLease(FixedLeaseState own, Reply.Granted granted) {
            own.clearedSteps = Math.max(own.clearedSteps, steps);
            own.toldAt = context.clock().now();
            if (granted.remaining().isPresent()) {
                long remaining = granted.remaining().get().toNanos();
                long margin = context.rules().margin(own.lengthNanos, partition.wire.p99RoundTrip());
                long now = context.clock().now();
                long deadline = context.rules().deadline(sentAt, now, remaining, margin);
                // What was asked for before an extension was settled may tell the lease before it, and that may have
                // been the longer one; and an answer that comes after the deadline does not bring back what was lost.
                boolean isLate =
                        claim.state == Claim.State.HELD && !context.rules().mayRenew(now, own.deadline);
                if ((!own.isOutdated(sentAt) && !isLate) || deadline - own.deadline < 0) {
                    own.deadline = deadline;
                }
            }
        }

        private static Claim.Denial denial(Reply.Refused refused) {
            return switch (refused.reason()) {
                case TAKEN -> Claim.Denial.TAKEN;
                case TOO_HEAVY -> Claim.Denial.TOO_HEAVY;
                default -> Claim.Denial.REFUSED;
            };
        }

        /** The failure that a refusal is for those who wait; null if it is none. */
        private @Nullable Supplier<RuntimeException> reasonOf(Reply.Refused refused) {
            String name = claim.ref.resource().value();
            return switch (refused.reason()) {
                case TAKEN -> null;
                case EXHAUSTED ->
                    () -> context.storeFailure(
                            name, new StoreException(Reason.DENIED, Effect.NONE, refused.detail(), null));
                default -> () -> new LockMismatchException(name, context.product(), refused.detail());
            };
        }
    }
}
