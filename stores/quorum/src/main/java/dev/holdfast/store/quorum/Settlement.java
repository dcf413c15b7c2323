package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * What a member has, or may have, of an ended claim would exclude others for as long as the client's session lives
 * there. So each end is sent until it is answered or the session has certainly ended. If the outcome of the request is
 * unknown, the epoch at that member is raised first, because the request may still be in flight and arrive after its
 * own withdrawal.
 */

/** Ends at the members what has ended here. */
final class Settlement {

    private final Quorum quorum;

    Settlement(Quorum quorum) {
        this.quorum = quorum;
    }

    /** Ends a member's hold, with as many requests as that takes. */
    void end(MemberHold hold) {
        hold.claim.holds.remove(hold);
        hold.claim.repairs.remove(hold);
        if (hold.isEnding || hold.state == MemberHold.State.NONE) {
            return;
        }
        hold.isEnding = true;
        hold.claim.ending.add(hold);
        if (hold.state != MemberHold.State.ASKED) {
            resume(hold);
        } else if (!quorum.rules.settlesUnknown()) {
            ended(hold);
        }
    }

    /** Resumes when the outcome of the request is known, or known to be unknown. */
    void resume(MemberHold hold) {
        switch (hold.state) {
            case ASKED -> {}
            case NONE -> ended(hold);
            case HELD -> send(hold, new Command.Release(hold.ref, hold.claim.isAnnotated), 0);
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
        for (QuorumClaim claim = hold.claim; claim != null; claim = claim.successor) {
            claim.ending.remove(hold);
            List.copyOf(claim.endListeners).forEach(Runnable::run);
            quorum.forgetIfSettled(claim);
        }
    }

    /** Whether the member can't have anything of it any more. */
    private boolean isOver(MemberHold hold) {
        QuorumClaim claim = hold.claim;
        if (claim.isDetached()) {
            long after =
                    2 * claim.session.ttl.toNanos() + 2 * claim.lease.length().toNanos();
            return quorum.loop.now() - hold.session.lastSentAt > after;
        }
        return hold.session.isOver || isOverByNow(claim.session, hold.session);
    }

    /**
     * Whether a session at a member has certainly ended: twice its ttl after the last request that may have renewed it.
     */
    boolean isOverByNow(QuorumSession session, MemberSession there) {
        return quorum.loop.now() - there.lastSentAt > 2 * session.ttl.toNanos();
    }

    // ---- Epochs

    private void afterRaise(MemberHold hold, Runnable action) {
        MemberSession there = hold.session;
        there.whenBeyond(hold.epoch, action);
        if (there.isAwaited() && !there.isRaising) {
            raise(hold.claim.session, there, 0);
        }
    }

    private void raise(QuorumSession session, MemberSession there, int failures) {
        there.isRaising = true;
        if (!there.isOver && isOverByNow(session, there)) {
            quorum.memberSessions.endedAt(session, there);
        }
        there.runDue();
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
            quorum.memberSessions.endedAt(session, there);
        }
        there.runDue();
        if (there.isAwaited()) {
            quorum.loop.later(quorum.loop.backOff(failures), () -> raise(session, there, failures + 1));
        } else {
            there.isRaising = false;
        }
    }

    /** Records an acknowledged keep-alive. */
    static void alive(MemberSession there, long epoch, long sentAt) {
        there.epoch = Math.max(there.epoch, epoch);
        there.renewedAt = Math.max(there.renewedAt, sentAt);
        there.runDue();
    }

    /** An epoch above all those used at a member. */
    private static long nextEpoch(QuorumSession session, MemberSession there) {
        there.raises++;
        return Math.max(epoch(session, there), there.epoch + 1);
    }

    /** The client's epoch at a member, with room between two of them for raises at this member alone. */
    static long epoch(QuorumSession session, MemberSession there) {
        return (Math.min(session.epoch, 1L << 41) << 20) + there.raises;
    }

    /** Sends a command about a whole session until it is answered, or the session has certainly ended there. */
    void sendUntilAnswered(
            QuorumSession session, MemberSession there, Command command, Runnable whenDone, int failures) {
        there.member.ask(command, (reply, failure) -> {
            if (reply != null) {
                whenDone.run();
            } else if (!isOverByNow(session, there) && isWorthRepeating(failure)) {
                quorum.loop.later(
                        quorum.loop.backOff(failures),
                        () -> sendUntilAnswered(session, there, command, whenDone, failures + 1));
            }
        });
    }

    private static boolean isWorthRepeating(@Nullable StoreException failure) {
        return failure == null || failure.reason() != StoreException.Reason.CLOSED;
    }
}
