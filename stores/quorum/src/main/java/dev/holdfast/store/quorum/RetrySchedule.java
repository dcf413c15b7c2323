package dev.holdfast.store.quorum;

import dev.holdfast.spi.Reply;
import dev.holdfast.store.quorum.member.QuorumTraits;
import java.time.Duration;

/** Schedule on which waiting claims try again: at random times, so that those that split the members don't again. */
final class RetrySchedule {

    private RetrySchedule() {}

    /** It waits, and is to look again soon. */
    static Reply.Queued look(Quorum quorum, QuorumSession session) {
        long usual = QuorumTraits.POLL_EVERY.toNanos();
        return queued(session, quorum.loop.between(usual / 2, 3 * usual));
    }

    /** It has just given way: others are to have a look before it. */
    static Reply.Queued pause(Quorum quorum, QuorumSession session) {
        long usual = QuorumTraits.POLL_EVERY.toNanos();
        return queued(session, quorum.loop.between(usual / 2, usual));
    }

    private static Reply.Queued queued(QuorumSession session, long nanos) {
        return new Reply.Queued(Duration.ofNanos(Math.max(1, Math.min(nanos, session.ttl.toNanos() / 3))));
    }
}
