package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/*
 * The client counts the deadline of all its holds from before it sent the last acknowledged keep-alive. So the session
 * must have been renewed at a majority, and for each claim at a majority that has this claim: a claim at A and B is not
 * covered by B and C. A claim without that is put in doubt before the reply is sent, and stays in doubt until a later
 * round covers it or its last lease has expired.
 */

/** Renews a session at all members. */
final class KeepAliveRound {

    private final Quorum quorum;
    private final Repairs repairs;
    private final QuorumSession session;
    private final Duration responseTimeout;
    private final CompletableFuture<Reply> future;
    private final long startedAt;
    private final List<String> failures = new ArrayList<>();
    private int pending;
    private int acknowledged;
    private int stale;
    private boolean isSuccess;

    /** @param responseTimeout how long a member may take to answer, unless the time-out of all commands is shorter */
    KeepAliveRound(
            Quorum quorum,
            Repairs repairs,
            QuorumSession session,
            Duration responseTimeout,
            CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.repairs = repairs;
        this.session = session;
        this.responseTimeout = responseTimeout;
        this.future = future;
        this.startedAt = quorum.loop.now();
    }

    void begin() {
        for (MemberSession there : session.at.clone()) {
            if (there != null) {
                ask(there);
            }
        }
        quorum.memberSessions.reopen(session);
        quorum.loop.post(this::decide);
    }

    private void ask(MemberSession there) {
        pending++;
        there.lastSentAt = startedAt;
        long epoch = Math.max(Settlement.epoch(session, there), there.epoch);
        there.member.ask(new Command.KeepAlive(there.id, epoch, responseTimeout), (reply, failure) -> {
            pending--;
            take(there, epoch, reply, failure);
            if (isSuccess) {
                // It answered after the success, but like the others it may have claims to regain.
                repairs.start(session, there);
            }
            quorum.loop.post(this::decide);
        });
    }

    private void take(MemberSession there, long epoch, @Nullable Reply reply, @Nullable StoreException failure) {
        if (reply instanceof Reply.SessionAlive) {
            acknowledged++;
            Settlement.alive(there, epoch, startedAt);
        } else if (reply instanceof Reply.SessionEnded) {
            failures.add(there.member + ": the session has ended there");
            quorum.memberSessions.endedAt(session, there);
        } else if (reply instanceof Reply.Stale) {
            stale++;
            there.raises = 2 * there.raises + 1;
            failures.add(there.member + ": stale");
        } else {
            failures.add(there.member + ": " + (failure == null ? reply : failure.getMessage()));
        }
    }

    private void decide() {
        if (future.isDone()) {
            return;
        }
        if (session.isOver || session.countLive() < quorum.majority()) {
            future.complete(new Reply.SessionEnded());
        } else if (session.isRetired) {
            future.complete(new Reply.Stale());
        } else if (acknowledged >= quorum.majority(session.countLive()) && (pending == 0 || isAllCovered())) {
            succeed();
        } else if (pending == 0 && stale >= quorum.majority()) {
            future.complete(new Reply.Stale());
        } else if (pending == 0) {
            future.completeExceptionally(quorum.unavailable(Effect.UNKNOWN, "The session was renewed", failures));
        }
    }

    private void succeed() {
        if (!session.isConfirmed || startedAt > session.confirmedSince) {
            session.isConfirmed = true;
            session.confirmedSince = startedAt;
        }
        for (QuorumClaim claim : List.copyOf(session.claims.values())) {
            boolean isSafe = claim.state != QuorumClaim.State.HELD || claim.isDetached() || isCovered(claim);
            if (!isSafe) {
                // Before the reply, which extends the client's deadline.
                claim.isInDoubt = true;
                quorum.signal(new Signal.Revoked(claim.ref));
            }
        }
        quorum.sessions.put(session.id, session);
        future.complete(new Reply.SessionAlive());
        isSuccess = true;
        for (MemberSession there : session.at) {
            if (there != null) {
                repairs.start(session, there);
            }
        }
    }

    private boolean isAllCovered() {
        for (QuorumClaim claim : session.claims.values()) {
            if (claim.state == QuorumClaim.State.HELD && !claim.isDetached() && !isCovered(claim)) {
                return false;
            }
        }
        return true;
    }

    private boolean isCovered(QuorumClaim claim) {
        return quorum.isCovered(claim, claim.holds, Math.max(startedAt, session.confirmedSince));
    }
}
