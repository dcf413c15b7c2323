package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.quorum.member.Member;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What one member has of a claim, as far as this connection knows. */
final class MemberHold {

    /** The knowledge about it. */
    enum State {
        /** It was requested, and there is no answer yet. */
        ASKED,
        /** The member has granted it. */
        HELD,
        /** It was requested, and the outcome is unknown. */
        UNKNOWN,
        /** The member has nothing of it, and no request in flight can change that. */
        NONE
    }

    final QuorumClaim claim;
    final MemberSession session;
    final ClaimRef ref;

    /** The epoch of the request. */
    final long epoch;

    State state = State.ASKED;

    /** The newest block reported by the member, which may have a newer one. */
    @Nullable
    TokenBlock tokens;

    /** The earliest end of its fixed lease, by the local clock. */
    long leaseEndsAt;

    /** The remaining time of its fixed lease as reported by the member, in nanoseconds. */
    long leaseLeft;

    /** Whether it is being ended. */
    boolean isEnding;

    MemberHold(QuorumClaim claim, MemberSession session, ClaimRef ref, long epoch) {
        this.claim = claim;
        this.session = session;
        this.ref = ref;
        this.epoch = epoch;
    }

    /** Records the member's grant, with the time at which the request was sent. */
    void granted(Reply.Granted grant, long sentAt) {
        state = State.HELD;
        refreshed(grant, sentAt);
    }

    /** Records the grant that the member reported, with the time at which the request was sent. */
    void refreshed(Reply.Granted grant, long sentAt) {
        tokens = grant.tokens();
        noteLease(sentAt, grant.remaining().orElse(Duration.ZERO));
    }

    /** Records the remaining lease that the member reported, with the time at which the request was sent. */
    void noteLease(long sentAt, Duration remaining) {
        leaseLeft = remaining.toNanos();
        leaseEndsAt = sentAt + leaseLeft;
    }

    Member member() {
        return session.member;
    }

    boolean isHeld() {
        return state == State.HELD && !isEnding;
    }

    /** The newest token of the member, as far as known. */
    long last() {
        TokenBlock block = tokens;
        return block == null ? 0 : block.last();
    }

    long first() {
        TokenBlock block = tokens;
        return block == null ? 0 : block.first();
    }
}
