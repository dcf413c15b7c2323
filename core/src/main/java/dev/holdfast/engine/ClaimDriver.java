package dev.holdfast.engine;

import org.slf4j.LoggerFactory;
import org.slf4j.Logger;
import dev.holdfast.Environment;
import dev.holdfast.LockMismatchException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/*
 * Brings a claim from its first sending to a definite answer. The three outcomes granted, refused and unknown are
 * never mixed: an unknown one is settled by raising the session's epoch, after which the old sending can take no
 * effect any more, and asking again with the same id.
 */

/**
 * Sends claims and yields, and gives what the store answers to their gates. Thread-safe; callers hold no lock of the
 * engine.
 */
final class ClaimDriver {
    private static final Logger log = LoggerFactory.getLogger(ClaimDriver.class);

    private static final long MIN_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int MAX_DOUBLINGS = 6;

    private final Engine engine;
    private final Environment environment;

    ClaimDriver(Engine engine) {
        this.engine = engine;
        this.environment = engine.environment;
    }

    /** Asks for a claim for the first time. */
    void acquire(Claim claim, int tokens, Caller caller) {
        send(claim, tokens, Sending.FIRST, caller);
    }

    /** Releases a grant for a new claim, in one step. */
    void giveWay(Claim next, int tokens) {
        send(next, tokens, Sending.FIRST, Caller.GOES_ON);
    }

    private void send(Claim claim, int tokens, Sending sending, Caller caller) {
        claim.gate.lock.lock();
        try {
            claim.beginSending(engine.clock.now());
        } finally {
            claim.gate.lock.unlock();
        }
        transmit(claim, tokens, sending, caller);
    }

    private void transmit(Claim claim, int tokens, Sending sending, Caller caller) {
        long epoch = claim.session.epoch;
        long steps = engine.clock.steps();
        Claim replaced;
        int weight;
        boolean isTry;
        int number;
        claim.gate.lock.lock();
        try {
            weight = claim.weight;
            replaced = claim.replaces;
            isTry = claim.isTry() || claim.isBarging;
            number = claim.sendings;
        } finally {
            claim.gate.lock.unlock();
        }
        Command.Acquire acquire = new Command.Acquire(
                claim.ref,
                epoch,
                sending,
                claim.gate.spec,
                weight,
                claim.lease,
                isTry ? Waiting.TRY : Waiting.QUEUE,
                tokens);
        Command command = replaced == null ? acquire : new Command.Yield(replaced.ref, acquire);
        claim.gate.part.wire.send(command, caller, new Wire.Answer() {
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
            noteAnswer(claim, false);
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
        Outbox out = new Outbox();
        Gate gate = claim.gate;
        gate.lock.lock();
        try {
            note(claim, true);
            if (reply instanceof Reply.Granted granted) {
                if (claim.own != null) {
                    noteLease(claim, claim.own, granted, sentAt, steps);
                }
                boolean wasHeld = claim.state == Claim.State.HELD;
                gate.granted(claim, granted, out);
                if (!wasHeld && claim.state == Claim.State.HELD && claim.isContradicted()) {
                    // It was asked after when there was nothing to answer for yet, and nobody would ask again.
                    out.add(() -> poll(claim));
                }
                OwnLease own = claim.own;
                if (own != null && claim.state == Claim.State.HELD) {
                    out.add(() -> engine.watchLease(claim, own));
                }
            } else if (reply instanceof Reply.Queued queued) {
                gate.queued(claim, out);
                if (claim.state == Claim.State.QUEUED) {
                    out.add(() -> claim.gate.part.poller.add(claim, queued.recheckIn()));
                    if (claim.isOvertaken) {
                        claim.isOvertaken = false;
                        out.add(() -> poll(claim));
                    }
                }
            } else if (reply instanceof Reply.Refused refused) {
                if (refused.reason() == Refusal.TAKEN) {
                    gate.taken(claim, out);
                } else if (refused.reason() == Refusal.TOO_HEAVY) {
                    gate.tooHeavy(claim, refusal(claim, refused), out);
                } else {
                    gate.refused(claim, refusal(claim, refused), out);
                }
            } else if (reply instanceof Reply.Absent) {
                gate.vanished(claim, out);
            } else if (reply instanceof Reply.SessionEnded) {
                out.add(() -> claim.session.part.keeper.endedAtStore(claim.session));
            } else {
                gate.refused(claim, () -> engine.storeFailure(gate.name.value(), Unexpected.reply(reply)), out);
            }
            if (claim.isDead && !claim.isSettling) {
                claim.gate.part.settler.retract(claim.ref);
            }
        } finally {
            gate.lock.unlock();
            out.send();
        }
        if (claim.own != null && reply instanceof Reply.Granted) {
            engine.certainty.tell();
        }
    }

    private void noteLease(Claim claim, OwnLease own, Reply.Granted granted, long sentAt, long steps) {
        own.clearedSteps = Math.max(own.clearedSteps, steps);
        if (granted.remaining().isPresent()) {
            long remaining = granted.remaining().get().toNanos();
            long margin = engine.rules.margin(claim.lease.length().toNanos(), claim.gate.part.wire.p99RoundTrip());
            long now = engine.clock.now();
            long deadline = engine.rules.deadline(sentAt, now, remaining, margin);
            // What was asked for before an extension was settled may tell the lease before it, and that may have been
            // the longer one; and an answer that comes after the deadline does not bring back what was lost.
            boolean isLate = claim.state == Claim.State.HELD && !engine.rules.mayRenew(now, own.deadline);
            if ((!own.isOutdated(sentAt) && !isLate) || deadline - own.deadline < 0) {
                own.deadline = deadline;
            }
        }
    }

    private Supplier<RuntimeException> refusal(Claim claim, Reply.Refused refused) {
        String name = claim.gate.name.value();
        return refused.reason() == Refusal.EXHAUSTED
                ? () -> engine.storeFailure(
                        name, new StoreException(Reason.DENIED, Effect.NONE, refused.detail(), null))
                : () -> new LockMismatchException(name, engine.product(), refused.detail());
    }

    private void failed(Claim claim, int tokens, long epoch, int number, StoreException failure) {
        giveUpIfNeeded(claim, failure);
        if (failure.effect() == Effect.UNKNOWN && engine.rules.raisesEpochWhenUnknown()) {
            againAfterRaise(claim, tokens, epoch, number);
        } else {
            long delay = MIN_RETRY_NANOS << Math.min(claim.failures, MAX_DOUBLINGS);
            environment.schedule(Jitter.spread(environment, delay), () -> again(claim, tokens, number));
        }
        claim.gate.part.troubled(failure);
    }

    private void againAfterRaise(Claim claim, int tokens, long epoch, int number) {
        int failures;
        claim.gate.lock.lock();
        try {
            failures = claim.failures;
        } finally {
            claim.gate.lock.unlock();
        }
        claim.session.part.keeper.afterRaise(claim.session, epoch, failures, () -> again(claim, tokens, number));
    }

    /**
     * What waits for this claim fails where asking again would not help, or is not wanted; the claim itself is settled
     * as any that nobody wants.
     */
    private void giveUpIfNeeded(Claim claim, StoreException failure) {
        Outbox out = new Outbox();
        claim.gate.lock.lock();
        try {
            note(claim, false);
            Supplier<RuntimeException> why = () -> engine.storeFailure(claim.gate.name.value(), failure);
            if (failure.reason() != Reason.UNAVAILABLE) {
                claim.gate.denied(claim, why, out);
            } else if (claim.isTry()) {
                claim.gate.unanswerable(claim, why, out);
            }
        } finally {
            claim.gate.lock.unlock();
            out.send();
        }
    }

    /** What waits for a queued claim fails: a person has to act before the store can tell anything of it. */
    void deny(Claim claim, StoreException failure) {
        Outbox out = new Outbox();
        claim.gate.lock.lock();
        try {
            claim.gate.denied(claim, () -> engine.storeFailure(claim.gate.name.value(), failure), out);
        } finally {
            claim.gate.lock.unlock();
            out.send();
        }
    }

    /**
     * Goes on with a claim about which nothing has come or gone for so long that its next step must have been lost: no
     * timer and no answer is that late. The audit calls this, without any lock.
     */
    void recover(Claim claim) {
        int number;
        claim.gate.lock.lock();
        try {
            number = claim.sendings;
        } finally {
            claim.gate.lock.unlock();
        }
        log.error(
                "resource={} claim={} was forgotten on its way; it is asked for again",
                claim.gate.name,
                claim.ref.claim());
        claim.session.part.keeper.afterRaise(claim.session, claim.session.epoch, () -> again(claim, 1, number));
    }

    /**
     * Sends a claim once more, or withdraws it if nobody wants it by now.
     *
     * @param number the sending that came to nothing; if it is not the newest, others go on from that
     */
    private void again(Claim claim, int tokens, int number) {
        if (engine.isClosing()) {
            // Its session is being closed, and ends it. A withdrawal could arrive before the claim, for the epoch is
            // not raised any more.
            return;
        }
        Outbox out = new Outbox();
        Gate gate = claim.gate;
        boolean resend;
        gate.lock.lock();
        try {
            if (claim.sendings != number) {
                return;
            }
            claim.failures++;
            resend = claim.state == Claim.State.SENT && !claim.isDead && claim.session.isAlive();
            if (resend) {
                // In the same step, so that of two that come here one goes on.
                claim.beginSending(engine.clock.now());
            } else if (claim.isDead && claim.state == Claim.State.SENT) {
                gate.withdraw(claim, out);
            } else {
                // Its answer was taken, but perhaps not all that followed from it was done.
                gate.react(out);
            }
        } finally {
            gate.lock.unlock();
            out.send();
        }
        if (resend) {
            transmit(claim, tokens, Sending.REPEAT, Caller.GOES_ON);
        }
    }

    /** Asks for a fresh block of tokens. Safe while local holds are live, and idempotent by the end of the block. */
    void advance(Claim held, long blockEnd, int tokens) {
        held.gate.part.wire.send(new Command.Advance(held.ref, blockEnd, tokens, 0), Caller.GOES_ON, new Wire.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                Outbox out = new Outbox();
                held.gate.lock.lock();
                try {
                    held.settledAt = engine.clock.now();
                    if (reply instanceof Reply.Absent) {
                        held.gate.vanished(held, out);
                    } else {
                        held.gate.advanced(held, reply instanceof Reply.Advanced fresh ? fresh : null, out);
                    }
                } finally {
                    held.gate.lock.unlock();
                    out.send();
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                environment.schedule(
                        Jitter.spread(environment, MIN_RETRY_NANOS), () -> advanceIfHeld(held, blockEnd, tokens));
                held.gate.part.troubled(failure);
            }
        });
    }

    /** As {@link #advance}, some time after it was decided. */
    void advanceIfHeld(Claim held, long blockEnd, int tokens) {
        if (held.state == Claim.State.HELD) {
            advance(held, blockEnd, tokens);
        }
    }

    /** Asks whether anyone waits at the store, or for the truth about a claim that is in doubt. */
    void poll(Claim held) {
        long steps = engine.clock.steps();
        long heard = held.contradictions();
        held.gate.part.wire.send(new Command.Poll(List.of(held.ref)), Caller.GOES_ON, new Wire.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (!(reply instanceof Reply.Polled polled) || polled.states().size() != 1) {
                    failure(Unexpected.reply(reply), sentAt);
                    return;
                }
                Reply.ClaimReply state = polled.states().get(0);
                if (state instanceof Reply.Granted) {
                    held.settleContradictions(heard);
                }
                take(held, state, sentAt, steps);
                engine.certainty.tell();
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                Outbox out = new Outbox();
                held.gate.lock.lock();
                try {
                    if (held.cohort != null) {
                        held.cohort.asking = false;
                    }
                } finally {
                    held.gate.lock.unlock();
                    out.send();
                }
                if (held.state == Claim.State.HELD) {
                    if (held.own != null) {
                        held.own.askedSteps = 0;
                    }
                    environment.schedule(Jitter.spread(environment, MIN_RETRY_NANOS), () -> pollAgain(held));
                }
                held.gate.part.troubled(failure);
            }
        });
    }

    /** Asks whether a pass claim still waits at the store: then those who wait here by now are served by it. */
    void cover(Claim waiting, Caller caller) {
        long steps = engine.clock.steps();
        Gate gate = waiting.gate;
        long newest;
        gate.lock.lock();
        try {
            newest = gate.queue.newest();
        } finally {
            gate.lock.unlock();
        }
        gate.part.wire.send(new Command.Poll(List.of(waiting.ref)), caller, new Wire.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (!(reply instanceof Reply.Polled polled) || polled.states().size() != 1) {
                    failure(Unexpected.reply(reply), sentAt);
                    return;
                }
                Reply.ClaimReply state = polled.states().get(0);
                gate.lock.lock();
                try {
                    waiting.isCovering = false;
                    waiting.coverFailures = 0;
                    if (state instanceof Reply.Queued) {
                        // Though it may have been granted since, and that have been pushed before this came.
                        waiting.cover(newest);
                    }
                } finally {
                    gate.lock.unlock();
                }
                take(waiting, state, sentAt, steps);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                long delay;
                gate.lock.lock();
                try {
                    delay = MIN_RETRY_NANOS << Math.min(waiting.coverFailures, MAX_DOUBLINGS);
                    waiting.coverFailures++;
                } finally {
                    gate.lock.unlock();
                }
                environment.schedule(Jitter.spread(environment, delay), () -> coverAgain(waiting));
                gate.part.troubled(failure);
            }
        });
    }

    private static void coverAgain(Claim waiting) {
        waiting.gate.step(out -> {
            waiting.isCovering = false;
            waiting.gate.react(out);
        });
    }

    /**
     * Asks whether a grant that is in doubt was good while one of those who share it held, and tells that one. What
     * can't be told counts as lost.
     */
    void confirm(Claim held, CompletableFuture<ReleaseOutcome> stage) {
        held.gate.part.wire.send(new Command.Poll(List.of(held.ref)), Caller.GOES_ON, new Wire.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                boolean isThere = reply instanceof Reply.Polled polled
                        && polled.states().size() == 1
                        && polled.states().get(0) instanceof Reply.Granted
                        && engine.rules.isGood(engine.clock.now(), held.deadline());
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
            held.gate.goOn();
        }
    }

    private void noteAnswer(Claim claim, boolean isDefinite) {
        claim.gate.lock.lock();
        try {
            note(claim, isDefinite);
        } finally {
            claim.gate.lock.unlock();
        }
    }

    private void note(Claim claim, boolean isDefinite) {
        claim.underWay = Math.max(0, claim.underWay - 1);
        claim.settledAt = engine.clock.now();
        if (isDefinite) {
            claim.wasAnswered = true;
            claim.failures = 0;
        }
    }
}
