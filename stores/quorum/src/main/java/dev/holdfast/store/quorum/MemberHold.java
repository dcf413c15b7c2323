package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.quorum.member.Member;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What one member has of a claim, as far as it is known here. */
final class MemberHold {

    /** What is known. */
    enum State {
        /** It was asked, and the answer is on its way. */
        ASKED,
        /** The member has granted it. */
        HELD,
        /** It was asked, and never said what came of it. */
        UNKNOWN,
        /** The member has nothing of it, and nothing can come any more. */
        NONE
    }

    final QuorumClaim claim;
    final MemberSession session;
    final ClaimRef ref;

    /** The epoch under which it was asked for. */
    final long epoch;

    State state = State.ASKED;

    /** The newest block that the member told; it may have a newer one. */
    @Nullable
    TokenBlock tokens;

    /** When its own lease is over at the earliest, by the clock here. */
    long leaseEndsAt;

    /** What the member said that is left of its own lease, in nanoseconds. */
    long leaseLeft;

    /** Whether it is being ended. */
    boolean isEnding;

    MemberHold(QuorumClaim claim, MemberSession session, ClaimRef ref, long epoch) {
        this.claim = claim;
        this.session = session;
        this.ref = ref;
        this.epoch = epoch;
    }

    /** The member has granted it, in answer to a request that was sent then. */
    void granted(Reply.Granted grant, long sentAt) {
        state = State.HELD;
        told(grant, sentAt);
    }

    /** The member has told the grant that it has, in answer to a request that was sent then. */
    void told(Reply.Granted grant, long sentAt) {
        tokens = grant.tokens();
        leaseTold(sentAt, grant.remaining().orElse(Duration.ZERO));
    }

    /** The member has said, to a request that was sent then, how much of its own lease is left. */
    void leaseTold(long sentAt, Duration remaining) {
        leaseLeft = remaining.toNanos();
        leaseEndsAt = sentAt + leaseLeft;
    }

    Member member() {
        return session.member;
    }

    boolean isHeld() {
        return state == State.HELD && !isEnding;
    }

    /** What the member is known to stand at. */
    long last() {
        TokenBlock block = tokens;
        return block == null ? 0 : block.last();
    }

    long first() {
        TokenBlock block = tokens;
        return block == null ? 0 : block.first();
    }
}
