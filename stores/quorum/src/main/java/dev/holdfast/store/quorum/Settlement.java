package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * What a member has, or may have, of a claim that nobody wants any more would keep others out for as long as the
 * client's session lives there. So each end is sent until it is answered or until the session has surely ended; and
 * where it is not known what came of the asking, the epoch at that member is raised first, for the asking may still be
 * on its way and arrive after its own withdrawal.
 */

/** Settlement at the members of what is over here. */
final class Settlement {

    private final Quorum quorum;

    Settlement(Quorum quorum) {
        this.quorum = quorum;
    }

    /** Ends what a member has of a claim, however often that must be sent. */
    void end(MemberHold hold) {
        hold.claim.holds.remove(hold);
        hold.claim.repairs.remove(hold);
        if (hold.isEnding || hold.state == MemberHold.State.NONE) {
            return;
        }
        hold.isEnding = true;
        hold.claim.ending.add(hold);
        if (hold.state != MemberHold.State.ASKED) {
            goOn(hold);
        } else if (!quorum.rules.settlesUnknown()) {
            ended(hold);
        }
    }

    /** The answer to its asking has come, or will not come. */
    void goOn(MemberHold hold) {
        switch (hold.state) {
            case ASKED -> {}
            case NONE -> ended(hold);
            case HELD -> send(hold, new Command.Release(hold.ref), 0);
            case UNKNOWN -> {
                if (quorum.rules.settlesUnknown()) {
                    afterRaise(hold, () -> send(hold, new Command.Withdraw(hold.ref, Sending.REPEAT), 0));
                } else {
                    ended(hold);
                }
            }
        }
    }

    private void send(MemberHold hold, Command command, int failures) {
        if (isOver(hold)) {
            ended(hold);
        } else if (!quorum.loop.isClosed()) {
            hold.member().ask(command, (reply, failure) -> {
                if (reply != null) {
                    hold.claim.released += reply instanceof Reply.Released ? 1 : 0;
                    hold.claim.missing += reply instanceof Reply.Absent ? 1 : 0;
                    ended(hold);
                } else {
                    quorum.loop.later(quorum.loop.backOff(failures), () -> send(hold, command, failures + 1));
                }
            });
        }
    }

    private void ended(MemberHold hold) {
        hold.state = MemberHold.State.NONE;
        QuorumClaim claim = hold.claim;
        claim.ending.remove(hold);
        List.copyOf(claim.watchers).forEach(Runnable::run);
        quorum.forgetIfSettled(claim);
    }

    /** Whether nothing can be left of it at the member. */
    private boolean isOver(MemberHold hold) {
        QuorumClaim claim = hold.claim;
        if (claim.isDetached()) {
            long after =
                    2 * claim.session.ttl.toNanos() + 2 * claim.lease.length().toNanos();
            return quorum.loop.now() - hold.session.lastSentAt > after;
        }
        return hold.session.isOver || isOverByNow(claim.session, hold.session);
    }

    /** Twice its ttl after the last request that may have renewed it. */
    boolean isOverByNow(QuorumSession session, MemberSession there) {
        return quorum.loop.now() - there.lastSentAt > 2 * session.ttl.toNanos();
    }

    // ---- Epochs

    private void afterRaise(MemberHold hold, Runnable action) {
        MemberSession there = hold.session;
        there.whenPast(hold.epoch, action);
        if (there.isAwaited() && !there.isRaising) {
            raise(hold.claim.session, there, 0);
        }
    }

    private void raise(QuorumSession session, MemberSession there, int failures) {
        there.isRaising = true;
        if (!there.isOver && isOverByNow(session, there)) {
            quorum.opener.endedAt(session, there);
        }
        there.goOn();
        if (!there.isAwaited() || quorum.loop.isClosed()) {
            there.isRaising = false;
            return;
        }
        long sentAt = quorum.loop.now();
        boolean isLast = session.isRetired || session.isOver;
        long epoch = nextEpoch(session, there);
        if (!isLast) {
            there.lastSentAt = sentAt;
        }
        Command command = isLast
                ? new Command.Retire(there.id)
                : new Command.KeepAlive(there.id, epoch, session.ttl.dividedBy(4));
        there.member.ask(command, (reply, failure) -> raised(session, there, epoch, sentAt, failures, reply));
    }

    private void raised(
            QuorumSession session, MemberSession there, long epoch, long sentAt, int failures, @Nullable Reply reply) {
        if (reply instanceof Reply.Done) {
            there.isRetired = true;
        } else if (reply instanceof Reply.SessionAlive) {
            alive(there, epoch, sentAt);
        } else if (reply instanceof Reply.SessionEnded) {
            quorum.opener.endedAt(session, there);
        }
        there.goOn();
        if (there.isAwaited()) {
            quorum.loop.later(quorum.loop.backOff(failures), () -> raise(session, there, failures + 1));
        } else {
            there.isRaising = false;
        }
    }

    /** A keep-alive was acknowledged. */
    static void alive(MemberSession there, long epoch, long sentAt) {
        there.epoch = Math.max(there.epoch, epoch);
        there.renewedAt = Math.max(there.renewedAt, sentAt);
        there.goOn();
    }

    /** An epoch above all that were used at a member. */
    private static long nextEpoch(QuorumSession session, MemberSession there) {
        there.raises++;
        return Math.max(epoch(session, there), there.epoch + 1);
    }

    /**
     * The client's epoch as the member is told it: with room between two of them to settle what concerns this member
     * alone.
     */
    static long epoch(QuorumSession session, MemberSession there) {
        return (Math.min(session.epoch, 1L << 41) << 20) + there.raises;
    }

    /** Sends a command about a whole session until it is answered, or nothing is left of the session by the clock. */
    void tell(QuorumSession session, MemberSession there, Command command, Runnable whenDone, int failures) {
        there.member.ask(command, (reply, failure) -> {
            if (reply != null) {
                whenDone.run();
            } else if (!isOverByNow(session, there) && isWorthRepeating(failure)) {
                quorum.loop.later(
                        quorum.loop.backOff(failures), () -> tell(session, there, command, whenDone, failures + 1));
            }
        });
    }

    private static boolean isWorthRepeating(@Nullable StoreException failure) {
        return failure == null || failure.reason() != StoreException.Reason.CLOSED;
    }
}
