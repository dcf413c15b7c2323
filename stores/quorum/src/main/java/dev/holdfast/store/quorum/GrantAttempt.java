package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.quorum.member.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/*
 * A claim never queues at a member: an attempt tries all of them at once, under its own claim number, and gets a
 * majority or releases what it got. It is decided as soon as the missing answers can't change the result; those are
 * settled when they arrive.
 */

/** One attempt to have a claim granted by a majority. */
final class GrantAttempt implements QuorumClaim.Attempt {

    /** How often a try is repeated after contenders may have split the members. */
    private static final int MOST_SPLITS = 3;

    private record Waiter(CompletableFuture<Reply> future, long requestedAt) {}

    private final Quorum quorum;
    private final QuorumClaim claim;
    private final Acquire request;
    private final int splits;
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<MemberHold> holds = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final List<Reply.Refused> refusals = new ArrayList<>();
    private @Nullable Reply unsupported;
    private boolean isFindingTokens;
    private boolean isOver;

    GrantAttempt(Quorum quorum, QuorumClaim claim, Acquire request, int splits) {
        this.quorum = quorum;
        this.claim = claim;
        this.request = request;
        this.splits = splits;
    }

    @Override
    public void join(CompletableFuture<Reply> future, long requestedAt) {
        waiters.add(new Waiter(future, requestedAt));
    }

    void begin() {
        claim.attempt = this;
        long number = MemberIds.claim(claim.ref.claim(), claim.attempts++, quorum.environment.randomLong());
        long now = quorum.loop.now();
        for (Member member : quorum.members) {
            MemberSession there = claim.session.at[member.index];
            if (there == null || claim.session.isRetired) {
                failures.add(member + ": this client has no session there at present");
            } else if (!there.isTrusted(now)) {
                failures.add(member + ": " + Markers.why(there, now));
            } else if (hasUnsettledHold(member)) {
                failures.add(member + ": the outcome of an earlier request is still unknown");
            } else {
                ask(there, number, now);
            }
        }
        quorum.loop.post(this::evaluate);
    }

    /** Whether a hold of an earlier attempt may still exist at the member and exclude this one. */
    private boolean hasUnsettledHold(Member member) {
        return claim.ending.stream().anyMatch(hold -> hold.member() == member);
    }

    private void ask(MemberSession there, long number, long sentAt) {
        ClaimRef ref = new ClaimRef(claim.ref.resource(), there.id, number);
        MemberHold hold = new MemberHold(claim, there, ref, there.epoch);
        holds.add(hold);
        int tokens = (int) Math.min(TokenBlock.MAX_SIZE, request.tokens() + quorum.allowance());
        Command asked = new Acquire(
                ref, hold.epoch, Sending.FIRST, request.spec(), request.weight(), request.lease(), Waiting.TRY, tokens);
        there.member.ask(asked, new Member.Answer() {
            @Override
            public void answered(@Nullable Reply reply, @Nullable StoreException failure) {
                take(hold, reply, failure, sentAt);
            }
        });
    }

    private void take(MemberHold hold, @Nullable Reply reply, @Nullable StoreException failure, long sentAt) {
        hold.state = MemberHold.State.NONE;
        if (reply instanceof Reply.Granted granted) {
            hold.granted(granted, sentAt);
        } else if (reply instanceof Reply.Refused refused && refused.reason() != Refusal.EXHAUSTED) {
            refusals.add(refused);
        } else if (reply instanceof Reply.Unsupported) {
            unsupported = reply;
        } else if (reply instanceof Reply.SessionEnded) {
            failures.add(hold.member() + ": the session has ended there");
            quorum.memberSessions.endedAt(claim.session, hold.session);
        } else if (reply != null) {
            failures.add(hold.member() + ": " + reply);
        } else {
            hold.state = failure == null || failure.effect() == Effect.UNKNOWN ? MemberHold.State.UNKNOWN : hold.state;
            failures.add(hold.member() + ": " + (failure == null ? "?" : failure.getMessage()));
        }
        if (hold.isEnding) {
            quorum.settlement.resume(hold);
        } else if (hold.state == MemberHold.State.UNKNOWN) {
            quorum.settlement.end(hold);
            if (claim.state == QuorumClaim.State.HELD) {
                quorum.loseIfGone(claim);
            }
        } else if (claim.state == QuorumClaim.State.HELD && hold.state == MemberHold.State.NONE) {
            quorum.lost(hold);
        }
        quorum.loop.post(this::evaluate);
    }

    private void evaluate() {
        if (isOver || isFindingTokens) {
            return;
        }
        int pending = 0;
        for (MemberHold hold : holds) {
            pending += hold.state == MemberHold.State.ASKED ? 1 : 0;
        }
        int granted = QuorumClaim.countHeld(holds);
        if (quorum.isCovered(claim, heldAtMembers(), claim.session.confirmedSince)) {
            isFindingTokens = true;
            noteSpread();
            new TokenRound(quorum, holds, 0, request.tokens(), this::gotTokens).begin();
        } else if (pending == 0
                || (granted + pending < quorum.majority(holds.size()) && isExplained(granted, pending))) {
            fail(granted);
        }
    }

    /** Whether the missing answers can't change the reason for failing: contention or unavailable members. */
    private boolean isExplained(int granted, int pending) {
        int answered = granted + refusals.size();
        return answered >= quorum.majority() || answered + pending < quorum.majority();
    }

    private List<MemberHold> heldAtMembers() {
        return holds.stream().filter(MemberHold::isHeld).toList();
    }

    private void noteSpread() {
        long least = Long.MAX_VALUE;
        long most = 0;
        for (MemberHold hold : heldAtMembers()) {
            least = Math.min(least, hold.first());
            most = Math.max(most, hold.first());
        }
        quorum.noteSpread(most - least);
    }

    private void gotTokens(@Nullable TokenBlock block) {
        if (isOver) {
            return;
        }
        if (block == null || !quorum.isCovered(claim, heldAtMembers(), claim.session.confirmedSince)) {
            fail(QuorumClaim.countHeld(holds));
            return;
        }
        isOver = true;
        claim.attempt = null;
        claim.state = QuorumClaim.State.HELD;
        claim.tokens = block;
        for (MemberHold hold : holds) {
            if (hold.isHeld() || (hold.state == MemberHold.State.ASKED && !hold.isEnding)) {
                claim.holds.add(hold);
            }
        }
        for (Waiter waiter : waiters) {
            waiter.future().complete(ClaimPoll.granted(quorum, claim, waiter.requestedAt()));
        }
    }

    // ---- Without a majority

    private void fail(int granted) {
        release();
        QuorumSession session = claim.session;
        boolean isContended = granted + refusals.size() >= quorum.majority() && !isUncovered(granted);
        Reply.@Nullable Refused mismatch = mismatch();
        if (session.isOver) {
            end(new Reply.SessionEnded());
        } else if (unsupported != null) {
            end(unsupported);
        } else if (mismatch != null) {
            end(mismatch);
        } else if (isContended && request.waiting() == Waiting.QUEUE) {
            reply(RetrySchedule.poll(quorum, session));
        } else if (isContended && granted > 0 && splits < MOST_SPLITS) {
            tryAgain();
        } else if (isContended) {
            end(refusals.get(0));
        } else {
            StoreException failure =
                    quorum.unavailable(Effect.NONE, "'" + claim.ref.resource() + "' could be granted", failures);
            if (request.waiting() == Waiting.TRY) {
                quorum.drop(claim);
            }
            waiters.forEach(waiter -> waiter.future().completeExceptionally(failure));
        }
    }

    /** Whether enough members have granted it, but their sessions were not renewed in time. */
    private boolean isUncovered(int granted) {
        return granted >= quorum.majority();
    }

    private Reply.@Nullable Refused mismatch() {
        List<Reply.Refused> found = refusals.stream()
                .filter(refused -> refused.reason() != Refusal.TAKEN)
                .toList();
        return found.size() >= quorum.blocking() ? found.get(0) : null;
    }

    /** Simultaneous tries may each have got a part of the members. */
    private void tryAgain() {
        long pause = quorum.loop.between(1_000_000, 6_000_000L << splits);
        GrantAttempt next = new GrantAttempt(quorum, claim, request, splits + 1);
        waiters.forEach(waiter -> next.join(waiter.future(), waiter.requestedAt()));
        claim.attempt = next;
        quorum.loop.later(pause, () -> {
            if (claim.state == QuorumClaim.State.WAITING) {
                next.begin();
            }
        });
    }

    /** Ends the claim with this reply. */
    private void end(Reply reply) {
        quorum.drop(claim);
        reply(reply);
    }

    private void reply(Reply reply) {
        waiters.forEach(waiter -> waiter.future().complete(reply));
    }

    private void release() {
        isOver = true;
        claim.attempt = null;
        for (MemberHold hold : holds) {
            quorum.settlement.end(hold);
        }
    }

    @Override
    public void abandon() {
        if (isOver) {
            return;
        }
        release();
        if (claim.session.isOver) {
            reply(new Reply.SessionEnded());
            return;
        }
        StoreException failure =
                Quorum.failed(Reason.UNAVAILABLE, Effect.NONE, "the claim ended while it was being requested");
        waiters.forEach(waiter -> waiter.future().completeExceptionally(failure));
    }

    @Override
    public List<ClaimRef> refs() {
        return holds.stream().map(hold -> hold.ref).toList();
    }

    @Override
    public void endedAt(MemberSession there) {
        for (MemberHold hold : holds) {
            if (hold.session == there && hold.state == MemberHold.State.HELD && !claim.isDetached()) {
                hold.state = MemberHold.State.NONE;
            }
        }
        quorum.loop.post(this::evaluate);
    }
}
