package dev.holdfast.store.quorum;

import dev.holdfast.spi.Reply;
import dev.holdfast.store.quorum.member.QuorumTraits;
import java.time.Duration;

/**
 * The schedule of waiting claims: they retry at random times, so that claims that split the members don't do so again.
 */
final class RetrySchedule {

    private RetrySchedule() {}

    /** The reply to a waiting claim. */
    static Reply.Queued poll(Quorum quorum, QuorumSession session) {
        long usual = QuorumTraits.POLL_EVERY.toNanos();
        return queued(session, quorum.loop.between(usual / 2, 3 * usual));
    }

    /** The reply to a claim that has just yielded: others shall try before it. */
    static Reply.Queued afterYield(Quorum quorum, QuorumSession session) {
        long usual = QuorumTraits.POLL_EVERY.toNanos();
        return queued(session, quorum.loop.between(usual / 2, usual));
    }

    private static Reply.Queued queued(QuorumSession session, long nanos) {
        return new Reply.Queued(Duration.ofNanos(Math.max(1, Math.min(nanos, session.ttl.toNanos() / 3))));
    }
}
