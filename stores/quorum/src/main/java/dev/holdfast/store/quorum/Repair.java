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

/** Claims again at one member what a majority has kept: grant, tokens, and then the majority's word. */
final class Repair {

    /** Others try too, and each is in the way for the time of a trip. */
    private static final int MOST_TRIES = 16;

    /** Takes the end of a repair. */
    interface Listener {
        /** The member has the claim, or has not. */
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

    /** Ends there no sooner than the client was told. */
    private Lease lease(long now) {
        if (!claim.hasOwnLease()) {
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
            quorum.opener.endedAt(claim.session, hold.session);
        } else if (reply == null && (failure == null || failure.effect() == Effect.UNKNOWN)) {
            hold.state = MemberHold.State.UNKNOWN;
        }
        if (hold.isEnding) {
            quorum.settlement.goOn(hold);
            end(false);
        } else if (hold.state == MemberHold.State.HELD || (isTaken && !quorum.rules.heedsRefusals())) {
            hold.state = MemberHold.State.HELD;
            raise();
        } else if (isTaken && tries < MOST_TRIES) {
            long usual = QuorumTraits.POLL_EVERY.toNanos();
            quorum.loop.later(quorum.loop.between(usual / 2, 4 * usual), this::tryAgain);
        } else {
            giveUp();
        }
    }

    /** What refuses it has nothing of it, so it may be asked for under the same number. */
    private void tryAgain() {
        if (isWanted()) {
            ask();
        } else {
            giveUp();
        }
    }

    /** Whether it was neither ended nor changed since it was begun. */
    private boolean isWanted() {
        return claim.repairs.contains(hold)
                && Repairs.isOpen(claim)
                && claim.changes == changes
                && (!claim.hasOwnLease() || claim.leaseEndsAt > quorum.loop.now());
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

    /** Those that had it before must have it still, now that this member has it too. */
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
