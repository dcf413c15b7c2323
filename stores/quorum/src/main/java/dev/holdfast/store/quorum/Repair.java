package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.quorum.member.QuorumTraits;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Regains one claim at one member: the grant, then the tokens, and then the majority's confirmation. */
final class Repair {

    /** Other clients try too, and each excludes this one for the time of its attempt. */
    private static final int MAX_TRIES = 16;

    /** Notified of the end of a repair. */
    interface Listener {
        /** The repair has ended; the member has the claim if it succeeded. */
        void ended(boolean success);
    }

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final MemberHold hold;
    private final Acquire request;
    private final int changes;
    private final Listener listener;
    private int tries;
    private boolean isOver;

    Repair(Quorum quorum, QuorumClaim claim, MemberSession there, Listener listener) {
        this.quorum = quorum;
        this.claim = claim;
        this.request = Objects.requireNonNull(claim.request);
        this.changes = claim.changes;
        this.listener = listener;
        long number = MemberIds.repair(claim.ref.claim(), claim.repaired++, quorum.environment.randomLong());
        this.hold = new MemberHold(claim, there, new ClaimRef(claim.ref.resource(), there.id, number), there.epoch);
    }

    void begin() {
        claim.repairs.add(hold);
        ask();
    }

    private void ask() {
        tries++;
        hold.state = MemberHold.State.ASKED;
        long sentAt = quorum.loop.now();
        Acquire command = new Acquire(
                hold.ref, hold.epoch, Sending.FIRST, request.spec(), claim.weight, lease(sentAt), Waiting.TRY, 1);
        hold.member().ask(command, (reply, failure) -> take(reply, failure, sentAt));
    }

    /** A lease at the member that ends no earlier than the client's. */
    private Lease lease(long now) {
        if (!claim.hasFixedLease()) {
            return Lease.SESSION;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(claim.leaseEndsAt - now) + 1;
        return new Lease(claim.lease.binding(), Duration.ofMillis(Math.max(1, left)));
    }

    private void take(@Nullable Reply reply, @Nullable StoreException failure, long sentAt) {
        hold.state = MemberHold.State.NONE;
        boolean isTaken = reply instanceof Reply.Refused refused && refused.reason() == Refusal.TAKEN;
        if (reply instanceof Reply.Granted granted) {
            hold.granted(granted, sentAt);
        } else if (reply instanceof Reply.SessionEnded) {
            quorum.memberSessions.endedAt(claim.session, hold.session);
        } else if (reply == null && (failure == null || failure.effect() == Effect.UNKNOWN)) {
            hold.state = MemberHold.State.UNKNOWN;
        }
        if (hold.isEnding) {
            quorum.settlement.resume(hold);
            end(false);
        } else if (hold.state == MemberHold.State.HELD || (isTaken && !quorum.rules.heedsRefusals())) {
            hold.state = MemberHold.State.HELD;
            raise();
        } else if (isTaken && tries < MAX_TRIES) {
            long usual = QuorumTraits.POLL_EVERY.toNanos();
            quorum.loop.later(quorum.loop.between(usual / 2, 4 * usual), this::retry);
        } else {
            giveUp();
        }
    }

    /** A member that rejected it has nothing of it, so the same claim number can be used again. */
    private void retry() {
        if (isWanted()) {
            ask();
        } else {
            giveUp();
        }
    }

    /** Whether the claim has neither ended nor changed since the start. */
    private boolean isWanted() {
        return claim.repairs.contains(hold)
                && Repairs.isRepairable(claim)
                && claim.changes == changes
                && (!claim.hasFixedLease() || claim.leaseEndsAt > quorum.loop.now());
    }

    private boolean isGranted() {
        return isWanted() && hold.isHeld();
    }

    private void raise() {
        TokenBlock given = claim.tokens;
        if (!isGranted() || given == null) {
            giveUp();
        } else if (hold.last() >= given.last() || !quorum.rules.raisesRepaired()) {
            confirm();
        } else {
            Command command = new Command.Advance(hold.ref, hold.last(), 1, given.last());
            hold.member().ask(command, (reply, failure) -> {
                if (reply instanceof Reply.Advanced advanced
                        && advanced.tokens().last() >= given.last()) {
                    hold.tokens = advanced.tokens();
                    raise();
                } else {
                    giveUp();
                }
            });
        }
    }

    /** Polls the members that had it before: they must still have it, now that this member has it too. */
    private void confirm() {
        if (!quorum.rules.confirmsRepaired()) {
            count();
            return;
        }
        var unused = ClaimPoll.at(quorum, claim, quorum.loop.now()).whenComplete((reply, failure) -> {
            if (reply instanceof Reply.Granted) {
                count();
            } else {
                giveUp();
            }
        });
    }

    private void count() {
        TokenBlock given = claim.tokens;
        if (!isGranted() || given == null) {
            giveUp();
        } else if (quorum.rules.raisesRepaired() && hold.last() < given.last()) {
            raise();
        } else {
            claim.repairs.remove(hold);
            claim.holds.add(hold);
            end(true);
        }
    }

    private void giveUp() {
        quorum.settlement.end(hold);
        end(false);
    }

    private void end(boolean success) {
        if (!isOver) {
            isOver = true;
            listener.ended(success);
        }
    }
}
