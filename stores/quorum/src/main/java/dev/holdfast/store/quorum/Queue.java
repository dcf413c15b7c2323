package dev.holdfast.store.quorum;

import dev.holdfast.spi.Reply;
import java.time.Duration;

/** When claims that wait ask again: at random times, so that those that split the members don't do it again. */
final class Queue {

    private Queue() {}

    /** It waits, and is to look again soon. */
    static Reply.Queued look(Quorum quorum, Session session) {
        long usual = Quorum.POLL_EVERY.toNanos();
        return queued(session, quorum.between(usual / 2, 3 * usual));
    }

    /** It has just given way: others are to have a look before it. */
    static Reply.Queued pause(Quorum quorum, Session session) {
        long usual = Quorum.POLL_EVERY.toNanos();
        return queued(session, quorum.between(usual / 2, usual));
    }

    private static Reply.Queued queued(Session session, long nanos) {
        return new Reply.Queued(Duration.ofNanos(Math.max(1, Math.min(nanos, session.ttl.toNanos() / 3))));
    }
}
