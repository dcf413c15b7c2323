package dev.holdfast.store.quorum;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** End of a claim at all members; answered when so many have ended it that it can have no majority any more. */
final class ClaimEnd {

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final boolean isRelease;
    private final CompletableFuture<Reply> future;
    private final Runnable watcher = this::decide;
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
        claim.watchers.add(watcher);
        quorum.drop(claim);
        quorum.loop.post(watcher);
        if (!future.isDone()) {
            quorum.loop.later(quorum.patience + quorum.patience / 2, () -> {
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
            claim.watchers.remove(watcher);
            future.completeExceptionally(
                    quorum.unavailable(Effect.UNKNOWN, "'" + claim.ref.resource() + "' was given back", List.of()));
        }
    }

    private void reply(Reply reply) {
        claim.watchers.remove(watcher);
        future.complete(reply);
    }
}
