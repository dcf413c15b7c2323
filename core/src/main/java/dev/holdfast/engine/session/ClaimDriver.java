package dev.holdfast.engine.session;

import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Brings a claim from its first sending to a definite answer. Granted, refused and unknown are never confused. To
 * settle an unknown outcome, the driver raises the session's epoch, after which the old sending can no longer take
 * effect, and sends the claim again with the same id.
 */

/**
 * Sends the claims and yields of one partition of the store, and gives the answers to their resources. Thread-safe;
 * callers hold no lock of the engine.
 */
public final class ClaimDriver {
    private static final Logger log = LoggerFactory.getLogger(ClaimDriver.class);

    private final Partition partition;
    private final ClientContext context;

    ClaimDriver(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
    }

    /** Sends a claim for the first time. One that replaces a grant yields it in the same step. */
    public void acquire(Claim claim, int tokens, CallerMode caller) {
        claim.step(deferred -> claim.beginSending(context.clock().now()));
        transmit(claim, tokens, Sending.FIRST, caller);
    }

    private void transmit(Claim claim, int tokens, Sending sending, CallerMode caller) {
        long epoch = claim.session.epoch();
        long steps = context.clock().steps();
        int weight;
        int number;
        ClaimRef replaced;
        claim.lock().lock();
        try {
            weight = claim.weight();
            number = claim.sendings();
            replaced = claim.replaces();
        } finally {
            claim.lock().unlock();
        }
        Command.Acquire acquire = new Command.Acquire(
                claim.ref(), epoch, sending, claim.spec(), weight, claim.lease(), claim.waiting(), tokens);
        Command command = replaced == null ? acquire : new Command.Yield(replaced, acquire, claim.replacesAnnotated());
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
            // This sending had no effect. The answer to the keep-alive that raised the epoch may have been lost.
            claim.step(deferred -> claim.endCommand(context.clock().now()));
            againAfterRaise(claim, tokens, epoch, number);
            return;
        }
        take(claim, reply, sentAt, steps);
    }

    /**
     * Applies the state of a claim that the store has reported: by a reply, a poll or a signal.
     *
     * @param sentAt when the request was sent
     * @param steps how many steps of the wall clock had been seen then
     */
    void take(Claim claim, Reply reply, long sentAt, long steps) {
        claim.step(deferred -> take(claim, reply, sentAt, steps, deferred));
        if (claim.fixedLease != null && reply instanceof Reply.Granted) {
            context.doubts().signalNews();
        }
    }

    private void take(Claim claim, Reply reply, long sentAt, long steps, DeferredActions deferred) {
        claim.noteAnswer(context.clock().now());
        ClaimAnswer handler = new ClaimAnswer(partition, claim, sentAt, steps, deferred);
        if (reply instanceof Reply.ClaimReply state) {
            state.accept(handler);
        } else {
            handler.violation(reply);
        }
        if (claim.isDead() && !claim.isSettling()) {
            partition.retrier.retract(claim.ref());
        }
    }

    /**
     * Applies a grant that the store has notified of, if its claim still waits. Otherwise the grant is known, and the
     * notification may be older than the newest answer about it.
     */
    void takeNotified(Claim claim, Reply.Granted grant) {
        claim.step(deferred -> {
            if (claim.isQueued()) {
                // The number of clock steps matters only for a claim with its own lease, which is polled instead.
                take(claim, grant, context.clock().now(), 0, deferred);
            }
        });
    }

    private void failed(Claim claim, int tokens, long epoch, int number, StoreException failure) {
        giveUpIfNeeded(claim, failure);
        if (failure.effect() == Effect.UNKNOWN && context.rules().raisesEpochWhenUnknown()) {
            againAfterRaise(claim, tokens, epoch, number);
        } else {
            Backoff.RESEND.retry(context.environment(), number - 1, () -> again(claim, tokens, number));
        }
        partition.troubled(failure);
    }

    private void againAfterRaise(Claim claim, int tokens, long epoch, int number) {
        partition.keeper.afterRaise(claim.session, epoch, number - 1, () -> again(claim, tokens, number));
    }

    /**
     * Fails the requests that wait for this claim if a retry would not help; the claim itself is settled as one that
     * no request wants. An unavailable store is asked again, also for a try: one lost message is no outage, and the
     * store time-out bounds the wait.
     */
    private void giveUpIfNeeded(Claim claim, StoreException failure) {
        claim.step(deferred -> {
            claim.noteFailure(failure.effect(), context.clock().now());
            if (failure.reason() != Reason.UNAVAILABLE) {
                failRequests(claim, failure, deferred);
            }
        });
    }

    /** Fails the requests that wait for a queued claim: a person has to act before the store can report its state. */
    void deny(Claim claim, StoreException failure) {
        claim.step(deferred -> failRequests(claim, failure, deferred));
    }

    private void failRequests(Claim claim, StoreException failure, DeferredActions deferred) {
        claim.listener()
                .notGranted(
                        claim,
                        Claim.Denial.UNREACHABLE,
                        null,
                        () -> context.storeFailure(claim.name(), failure),
                        deferred);
    }

    /**
     * Continues a claim about which nothing was sent or answered for so long that its next step must have been lost:
     * no timer and no answer is that late. The audit calls this, without any lock.
     */
    public void recover(Claim claim) {
        int number;
        claim.lock().lock();
        try {
            number = claim.sendings();
        } finally {
            claim.lock().unlock();
        }
        log.error(
                "resource={} claim={} has no pending command; it is requested again",
                claim.ref().resource(),
                claim.ref().claim());
        partition.keeper.afterRaise(claim.session, claim.session.epoch(), () -> again(claim, 1, number));
    }

    /**
     * Sends a claim once more, or withdraws it if no request wants it by now.
     *
     * @param number the sending that failed; if it is not the newest, that one continues
     */
    private void again(Claim claim, int tokens, int number) {
        if (context.isClosing()) {
            // The end of its session ends it. A withdrawal could arrive before the claim: the epoch is no longer
            // raised.
            return;
        }
        DeferredActions deferred = new DeferredActions();
        boolean resend;
        claim.lock().lock();
        try {
            if (claim.sendings() != number) {
                return;
            }
            resend = claim.isSent() && !claim.isDead() && claim.session.isAlive();
            if (resend) {
                // In the same step, so that of two threads only one continues.
                claim.beginSending(context.clock().now());
            } else if (claim.isDead() && claim.isSent()) {
                claim.listener().withdraw(claim, deferred);
            } else {
                // It was answered, but perhaps not everything that follows was done.
                claim.listener().proceed(deferred);
            }
        } finally {
            claim.lock().unlock();
            deferred.send();
        }
        if (resend) {
            transmit(claim, tokens, Sending.REPEAT, CallerMode.ASYNC);
        }
    }

    /** Asks for a fresh block of tokens. Safe while local holds are live, and idempotent by the end of the block. */
    public void advance(Claim grant, long blockEnd, int tokens) {
        partition.wire.send(
                new Command.Advance(grant.ref(), blockEnd, tokens, 0), CallerMode.ASYNC, new CommandSender.Answer() {
                    @Override
                    public void reply(Reply reply, long sentAt) {
                        grant.step(deferred -> {
                            grant.touch(context.clock().now());
                            if (reply instanceof Reply.Absent) {
                                grant.listener().vanished(grant, deferred);
                            } else {
                                Reply.Advanced fresh = reply instanceof Reply.Advanced advanced ? advanced : null;
                                grant.listener().advanced(grant, fresh, deferred);
                            }
                        });
                    }

                    @Override
                    public void failure(StoreException failure, long sentAt) {
                        Backoff.RESEND.retry(context.environment(), 0, () -> advanceIfHeld(grant, blockEnd, tokens));
                        partition.troubled(failure);
                    }
                });
    }

    /** As {@link #advance}, some time after it was decided. */
    public void advanceIfHeld(Claim grant, long blockEnd, int tokens) {
        if (grant.isHeld()) {
            advance(grant, blockEnd, tokens);
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

    private void poll(Claim claim, CallerMode caller, PollAnswer answer) {
        partition.wire.send(new Command.Poll(List.of(claim.ref())), caller, answer);
    }

    /** Asks whether others wait at the store, or what is true of a claim in doubt. */
    public void poll(Claim claim) {
        long steps = context.clock().steps();
        long revocations = claim.revocationSignals();
        poll(claim, CallerMode.ASYNC, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                if (state instanceof Reply.Granted) {
                    claim.settleRevocations(revocations);
                } else {
                    claim.step(deferred -> claim.listener().pollFailed(claim));
                }
                take(claim, state, sentAt, steps);
                context.doubts().signalNews();
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                claim.step(deferred -> claim.listener().pollFailed(claim));
                if (claim.isHeld()) {
                    if (claim.fixedLease != null) {
                        claim.fixedLease.askAgain();
                    }
                    Backoff.RESEND.retry(context.environment(), 0, () -> pollAgain(claim));
                }
                partition.troubled(failure);
            }
        });
    }

    private void pollAgain(Claim claim) {
        if (claim.isRevocationPending() && claim.isHeld()) {
            poll(claim);
        } else {
            claim.step(deferred -> claim.listener().proceed(deferred));
        }
    }

    /**
     * Asks whether a pass claim still waits at the store: then it also serves the requests that have come since.
     *
     * @param newestRequest the newest of them
     */
    public void cover(Claim claim, PassCoverage coverage, long newestRequest, CallerMode caller) {
        long steps = context.clock().steps();
        poll(claim, caller, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                claim.step(deferred -> {
                    coverage.endPoll();
                    if (state instanceof Reply.Queued) {
                        // Even if it has been granted since, and that was pushed before this answer.
                        coverage.extendTo(newestRequest);
                    }
                });
                take(claim, state, sentAt, steps);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                int failures;
                claim.lock().lock();
                try {
                    failures = coverage.countFailure();
                } finally {
                    claim.lock().unlock();
                }
                Backoff.RESEND.retry(
                        context.environment(),
                        failures,
                        () -> claim.step(deferred -> {
                            coverage.repeatPoll();
                            claim.listener().proceed(deferred);
                        }));
                partition.troubled(failure);
            }
        });
    }

    /**
     * Asks whether a grant in doubt was good while one of the holds that shared it lasted, and completes the release
     * of that hold. Without an answer the hold counts as lost.
     */
    public void confirm(Claim grant, CompletableFuture<ReleaseOutcome> stage) {
        poll(grant, CallerMode.ASYNC, new PollAnswer() {
            @Override
            public void state(Reply.ClaimReply state, long sentAt) {
                boolean wasGood = state instanceof Reply.Granted
                        && context.rules().isGood(context.clock().now(), grant.deadline());
                stage.complete(wasGood ? ReleaseOutcome.RELEASED : ReleaseOutcome.LOST);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                stage.complete(ReleaseOutcome.LOST);
            }
        });
    }
}
