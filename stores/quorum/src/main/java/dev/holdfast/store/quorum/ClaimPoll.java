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

/** Poll of the members that have a claim: whether they still have it. */
final class ClaimPoll {

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final long askedAt;
    private final CompletableFuture<Reply> future;

    /** Those that have said so just now. */
    private final List<MemberHold> seen = new ArrayList<>();

    private final List<String> failures = new ArrayList<>();
    private int pending;
    private boolean isRaising;

    private ClaimPoll(Quorum quorum, QuorumClaim claim, long askedAt, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.claim = claim;
        this.askedAt = askedAt;
        this.future = future;
    }

    /** Answers with the state of a claim that was granted: {@link Reply.Granted} or {@link Reply.Absent}. */
    static CompletableFuture<Reply> at(Quorum quorum, QuorumClaim claim, long askedAt) {
        CompletableFuture<Reply> future = new CompletableFuture<>();
        new ClaimPoll(quorum, claim, askedAt, future).begin();
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
            hold.told(granted, sentAt);
            seen.add(hold);
        } else if (hold.isHeld()) {
            quorum.lost(hold);
        }
    }

    private void decide() {
        if (future.isDone() || isRaising) {
            return;
        }
        if (claim.state == QuorumClaim.State.OVER) {
            future.complete(new Reply.Absent());
        } else if (QuorumClaim.countHeld(seen) >= quorum.majority(seen.size())
                && (!claim.session.isTold || quorum.isCovered(claim, claim.holds, claim.session.toldSince))) {
            claim.isSuspect = false;
            if (claim.tokens != null) {
                future.complete(granted(quorum, claim, seen, askedAt));
            } else {
                isRaising = true;
                new TokenRound(quorum, claim.holds, 0, 1, this::haveTokens).begin();
            }
        } else if (pending == 0 && isOverdue()) {
            quorum.lose(claim);
            future.complete(new Reply.Absent());
        } else if (pending == 0) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.NONE, "'" + claim.ref.resource() + "' is held for certain", failures));
        }
    }

    private void haveTokens(@Nullable TokenBlock block) {
        if (claim.state == QuorumClaim.State.OVER) {
            future.complete(new Reply.Absent());
        } else if (block == null) {
            future.completeExceptionally(quorum.unavailable(
                    Effect.NONE, "The tokens of '" + claim.ref.resource() + "' are known", failures));
        } else {
            claim.tokens = block;
            future.complete(granted(quorum, claim, seen, askedAt));
        }
    }

    /** Whether the last lease that a majority is known to have given it is over. */
    private boolean isOverdue() {
        if (claim.isDetached()) {
            return false;
        }
        long ttl = claim.session.ttl.toNanos();
        long renewedAt = quorum.reachedByMajority(claim.holds, hold -> hold.session.renewedAt, MemberSession.NEVER);
        return renewedAt == MemberSession.NEVER || quorum.loop.now() - renewedAt > ttl - ttl / 10;
    }

    /** What the client is told of a grant. */
    static Reply.Granted granted(Quorum quorum, QuorumClaim claim, long askedAt) {
        return granted(quorum, claim, claim.holds, askedAt);
    }

    private static Reply.Granted granted(Quorum quorum, QuorumClaim claim, List<MemberHold> holds, long askedAt) {
        TokenBlock tokens = claim.tokens;
        if (tokens == null) {
            throw new IllegalStateException("It waits: " + claim.ref);
        }
        if (!claim.hasOwnLease()) {
            return new Reply.Granted(tokens, Optional.empty(), true);
        }
        Duration remaining = remaining(quorum, holds, askedAt);
        claim.leaseEndsAt = Math.max(claim.leaseEndsAt, askedAt + remaining.toNanos());
        return new Reply.Granted(tokens, Optional.of(remaining), true);
    }

    /** What a majority leaves of its own lease, counted from when the client asked. */
    static Duration remaining(Quorum quorum, List<MemberHold> holds, long askedAt) {
        long endsAt = quorum.reachedByMajority(holds, hold -> hold.leaseEndsAt, askedAt);
        // Members were asked a little later than the quorum was, and what they have said is not to grow by that.
        long left = quorum.reachedByMajority(holds, hold -> hold.leaseLeft, 0);
        return Duration.ofNanos(Math.max(0, Math.min(endsAt - askedAt, left)));
    }
}
