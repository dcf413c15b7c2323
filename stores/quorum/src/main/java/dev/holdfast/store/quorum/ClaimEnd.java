package dev.holdfast.store.quorum;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The end of a claim at all members; answered when too few members for a majority may still have it. */
final class ClaimEnd {

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final boolean isRelease;
    private final CompletableFuture<Reply> future;
    private final Runnable listener = this::decide;
    private boolean isLate;

    private ClaimEnd(Quorum quorum, QuorumClaim claim, boolean isRelease, CompletableFuture<Reply> future) {
        this.quorum = quorum;
        this.claim = claim;
        this.isRelease = isRelease;
        this.future = future;
    }

    /** Answers {@link Reply.Done}. */
    static void withdraw(Quorum quorum, QuorumClaim claim, CompletableFuture<Reply> future) {
        new ClaimEnd(quorum, claim, false, future).begin();
    }

    /** Answers {@link Reply.Released}, or {@link Reply.Absent} if a majority did not have it any more. */
    static void release(Quorum quorum, QuorumClaim claim, CompletableFuture<Reply> future) {
        new ClaimEnd(quorum, claim, true, future).begin();
    }

    private void begin() {
        claim.endListeners.add(listener);
        quorum.drop(claim);
        quorum.loop.post(listener);
        if (!future.isDone()) {
            quorum.loop.later(quorum.memberTimeoutNanos + quorum.memberTimeoutNanos / 2, () -> {
                isLate = true;
                decide();
            });
        }
    }

    private void decide() {
        if (future.isDone()) {
            return;
        }
        boolean isGone = claim.countEnding() < quorum.majority();
        boolean isSettled = claim.ending.isEmpty();
        if (isGone && !isRelease) {
            reply(new Reply.Done());
        } else if (isGone && claim.released >= quorum.majority(claim.released)) {
            reply(new Reply.Released());
        } else if (isGone && (isSettled || isLate || claim.missing >= quorum.blocking())) {
            reply(new Reply.Absent());
        } else if (isLate) {
            claim.endListeners.remove(listener);
            future.completeExceptionally(
                    quorum.unavailable(Effect.UNKNOWN, "'" + claim.ref.resource() + "' was released", List.of()));
        }
    }

    private void reply(Reply reply) {
        claim.endListeners.remove(listener);
        future.complete(reply);
    }
}
