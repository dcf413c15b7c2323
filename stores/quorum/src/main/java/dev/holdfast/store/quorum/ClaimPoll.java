package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Polls the members that have a claim. */
final class ClaimPoll {

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final long requestedAt;
    private final CompletableFuture<Reply> future;

    /** The holds confirmed by this poll. */
    private final List<MemberHold> seen = new ArrayList<>();

    private final List<String> failures = new ArrayList<>();
    private int pending;
    private boolean isFindingTokens;

    private ClaimPoll(Quorum quorum, QuorumClaim claim, long requestedAt, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.claim = claim;
        this.requestedAt = requestedAt;
        this.future = future;
    }

    /** Completes with the state of a granted claim: {@link Reply.Granted} or {@link Reply.Absent}. */
    static CompletableFuture<Reply> at(Quorum quorum, QuorumClaim claim, long requestedAt) {
        CompletableFuture<Reply> future = new CompletableFuture<>();
        new ClaimPoll(quorum, claim, requestedAt, future).begin();
        return future;
    }

    private void begin() {
        for (MemberHold hold : List.copyOf(claim.holds)) {
            if (hold.isHeld()) {
                ask(hold);
            }
        }
        quorum.loop.post(this::decide);
    }

    private void ask(MemberHold hold) {
        pending++;
        long sentAt = quorum.loop.now();
        hold.member().ask(new Command.Poll(List.of(hold.ref)), (reply, failure) -> {
            pending--;
            if (reply instanceof Reply.Polled polled && polled.states().size() == 1) {
                take(hold, polled.states().get(0), sentAt);
            } else {
                failures.add(hold.member() + ": " + (failure == null ? reply : failure.getMessage()));
            }
            quorum.loop.post(this::decide);
        });
    }

    private void take(MemberHold hold, Reply.ClaimReply state, long sentAt) {
        if (state instanceof Reply.Granted granted) {
            hold.refreshed(granted, sentAt);
            seen.add(hold);
        } else {
            quorum.loseIfHeld(hold);
        }
    }

    private void decide() {
        if (future.isDone() || isFindingTokens) {
            return;
        }
        if (claim.state == QuorumClaim.State.OVER) {
            future.complete(new Reply.Absent());
        } else if (QuorumClaim.countHeld(seen) >= quorum.majority(seen.size())
                && (!claim.session.isConfirmed || quorum.isCovered(claim, claim.holds, claim.session.confirmedSince))) {
            claim.isInDoubt = false;
            if (claim.tokens != null) {
                future.complete(granted(quorum, claim, seen, requestedAt));
            } else {
                isFindingTokens = true;
                new TokenRound(quorum, claim.holds, 0, 1, this::gotTokens).begin();
            }
        } else if (pending == 0 && isOverdue()) {
            quorum.lose(claim);
            future.complete(new Reply.Absent());
        } else if (pending == 0) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.NONE, "'" + claim.ref.resource() + "' is certainly held", failures));
        }
    }

    private void gotTokens(@Nullable TokenBlock block) {
        if (claim.state == QuorumClaim.State.OVER) {
            future.complete(new Reply.Absent());
        } else if (block == null) {
            future.completeExceptionally(quorum.unavailable(
                    Effect.NONE, "The tokens of '" + claim.ref.resource() + "' were reported", failures));
        } else {
            claim.tokens = block;
            future.complete(granted(quorum, claim, seen, requestedAt));
        }
    }

    /** Whether the last lease known from a majority has expired. */
    private boolean isOverdue() {
        if (claim.isDetached()) {
            return false;
        }
        long ttl = claim.session.ttl.toNanos();
        long renewedAt = quorum.reachedByMajority(claim.holds, hold -> hold.session.renewedAt, MemberSession.NEVER);
        return renewedAt == MemberSession.NEVER || quorum.loop.now() - renewedAt > ttl - ttl / 10;
    }

    /** The reply that reports a grant to the client. */
    static Reply.Granted granted(Quorum quorum, QuorumClaim claim, long requestedAt) {
        return granted(quorum, claim, claim.holds, requestedAt);
    }

    private static Reply.Granted granted(Quorum quorum, QuorumClaim claim, List<MemberHold> holds, long requestedAt) {
        TokenBlock tokens = claim.tokens;
        if (tokens == null) {
            throw new IllegalStateException("The claim is waiting: " + claim.ref);
        }
        if (!claim.hasFixedLease()) {
            return new Reply.Granted(tokens, Optional.empty(), true);
        }
        Duration remaining = remaining(quorum, holds, requestedAt);
        claim.leaseEndsAt = Math.max(claim.leaseEndsAt, requestedAt + remaining.toNanos());
        return new Reply.Granted(tokens, Optional.of(remaining), true);
    }

    /** The fixed lease's remaining time at a majority, counted from the client's request. */
    static Duration remaining(Quorum quorum, List<MemberHold> holds, long requestedAt) {
        long endsAt = quorum.reachedByMajority(holds, hold -> hold.leaseEndsAt, requestedAt);
        // The members got the request a little later than the quorum; that must not make their answers longer.
        long left = quorum.reachedByMajority(holds, hold -> hold.leaseLeft, 0);
        return Duration.ofNanos(Math.max(0, Math.min(endsAt - requestedAt, left)));
    }
}
