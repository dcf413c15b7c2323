package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A change of a grant at all members that have it; answered when a majority has made it. */
final class GrantChange {

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final CompletableFuture<Reply> future;
    private final Function<MemberHold, Command> command;
    private final List<String> failures = new ArrayList<>();
    private final List<MemberHold> done = new ArrayList<>();
    private final long requestedAt;
    private long newestExtension;

    /** Whether it waits for the members that are not needed for a majority. */
    private boolean isForAll;

    private int pending;

    private GrantChange(
            Quorum quorum,
            QuorumClaim claim,
            CompletableFuture<Reply> future,
            long requestedAt,
            Function<MemberHold, Command> command) {
        this.quorum = quorum;
        this.claim = claim;
        this.future = future;
        this.requestedAt = requestedAt;
        this.command = command;
    }

    /** Answers {@link Reply.Done}. */
    static void shrink(
            Quorum quorum,
            QuorumClaim claim,
            Command.ShrinkTo command,
            CompletableFuture<Reply> future,
            long requestedAt) {
        // The client has already released it, whether or not the members get the command.
        claim.weight = Math.min(claim.weight, command.weight());
        new GrantChange(quorum, claim, future, requestedAt, hold -> new Command.ShrinkTo(hold.ref, command.weight()))
                .begin();
    }

    /** Answers {@link Reply.Extended}, with the lease that a majority has. */
    static void extend(
            Quorum quorum,
            QuorumClaim claim,
            Command.Extend command,
            CompletableFuture<Reply> future,
            long requestedAt) {
        new GrantChange(
                        quorum,
                        claim,
                        future,
                        requestedAt,
                        hold -> new Command.Extend(hold.ref, command.seq(), command.lease()))
                .begin();
    }

    /** Answers {@link Reply.Done}. A member at which the grant is regained later lacks the annotation. */
    static void annotate(
            Quorum quorum,
            QuorumClaim claim,
            Command.Annotate command,
            CompletableFuture<Reply> future,
            long requestedAt) {
        claim.isAnnotated = true;
        GrantChange change = new GrantChange(
                quorum,
                claim,
                future,
                requestedAt,
                hold -> new Command.Annotate(hold.ref, command.seq(), command.text()));
        // An inspection can't tell which of two annotations is newer, so all members should have the same.
        change.isForAll = true;
        change.begin();
    }

    private void begin() {
        // Invalidates repairs in progress, which would lack the change.
        claim.changes++;
        claim.changing++;
        var unused = future.whenComplete((reply, failure) -> claim.changing--);
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
        hold.member().ask(command.apply(hold), (reply, failure) -> {
            pending--;
            if (reply instanceof Reply.Done) {
                done.add(hold);
            } else if (reply instanceof Reply.Extended extended) {
                hold.noteLease(sentAt, extended.remaining());
                newestExtension = Math.max(newestExtension, extended.seq());
                done.add(hold);
            } else if (reply instanceof Reply.Absent) {
                quorum.loseIfHeld(hold);
            } else {
                failures.add(hold.member() + ": " + (failure == null ? reply : failure.getMessage()));
            }
            quorum.loop.post(this::decide);
        });
    }

    private void decide() {
        if (future.isDone()) {
            return;
        }
        if (claim.state == QuorumClaim.State.OVER) {
            future.complete(new Reply.Absent());
        } else if (isForAll && pending > 0) {
            return;
        } else if (QuorumClaim.countHeld(done) >= quorum.majority(done.size())) {
            future.complete(newestExtension > 0 ? extended() : new Reply.Done());
        } else if (pending == 0) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.UNKNOWN, "'" + claim.ref.resource() + "' was changed", failures));
        }
    }

    private Reply extended() {
        Duration remaining = ClaimPoll.remaining(quorum, done, requestedAt);
        // It may be shorter than before.
        claim.leaseEndsAt = requestedAt + remaining.toNanos();
        return new Reply.Extended(newestExtension, remaining);
    }

    /**
     * Asks for a fresh block above the one that is spent; answers {@link Reply.Advanced}.
     *
     * <p>Members are asked for more tokens than requested. So if a claim is known only from them, its block may extend
     * beyond its holder's, and the used block is the start of it; or it may end earlier, if the member that stands at
     * its end is missing.
     */
    static void advance(Quorum quorum, QuorumClaim claim, Command.Advance command, CompletableFuture<Reply> future) {
        TokenBlock present = claim.tokens;
        if (claim.state != QuorumClaim.State.HELD) {
            future.complete(new Reply.Absent());
        } else if (present != null
                && isOther(present, command.blockEnd(), claim.isKnownInPart(quorum.members.size()))) {
            answerPresent(quorum, claim, future);
        } else {
            long spent = Math.max(command.blockEnd(), present == null ? 0 : present.last());
            new TokenRound(
                            quorum,
                            claim.holds,
                            Math.max(spent, command.atLeast()),
                            command.tokens(),
                            block -> advanced(quorum, claim, present, block, future))
                    .begin();
        }
    }

    /** Whether the used block is not the current one. */
    private static boolean isOther(TokenBlock present, long spent, boolean mayEndLater) {
        return present.first() > spent || (present.last() < spent && !mayEndLater);
    }

    private static void answerPresent(Quorum quorum, QuorumClaim claim, CompletableFuture<Reply> future) {
        var unused = ClaimPoll.at(quorum, claim, quorum.loop.now()).whenComplete((reply, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
            } else {
                future.complete(
                        reply instanceof Reply.Granted granted ? new Reply.Advanced(granted.tokens(), true) : reply);
            }
        });
    }

    private static void advanced(
            Quorum quorum,
            QuorumClaim claim,
            @Nullable TokenBlock spent,
            @Nullable TokenBlock block,
            CompletableFuture<Reply> future) {
        TokenBlock present = claim.tokens;
        if (claim.state != QuorumClaim.State.HELD) {
            future.complete(new Reply.Absent());
        } else if (present != null && !present.equals(spent)) {
            future.complete(new Reply.Advanced(present, true));
        } else if (block == null) {
            future.completeExceptionally(
                    quorum.unavailable(Effect.UNKNOWN, "'" + claim.ref.resource() + "' got more tokens", List.of()));
        } else {
            claim.tokens = block;
            future.complete(new Reply.Advanced(block, true));
        }
    }

    /** Whether a lease that may outlive its session is longer than the quorum allows. */
    static boolean isTooLong(Quorum quorum, QuorumClaim claim, Duration lease) {
        return claim.isDetached() && lease.compareTo(quorum.longestLease) > 0;
    }
}
