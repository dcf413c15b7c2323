package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends the sessions that were open when a store was closed whose handle was lent: their nodes would last as long as
 * that, and nobody would renew or end them. A thread waits for their ttls, ends them, and ends itself.
 */
final class LentSessionEnd {

    /** After the ttl; more than once, for there may be no connection just then. */
    private static final long[] DELAYS_MILLIS = {0, 1_000, 10_000, 60_000};

    private LentSessionEnd() {}

    static void schedule(Map<SessionId, Duration> left, SessionRemovals removals) {
        if (left.isEmpty()) {
            return;
        }
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, "holdfast-zookeeper-end");
            thread.setDaemon(true);
            return thread;
        });
        left.forEach((id, time) -> {
            for (long delay : DELAYS_MILLIS) {
                var unused = timer.schedule(() -> remove(id, removals), time.toMillis() + delay, TimeUnit.MILLISECONDS);
            }
        });
        timer.shutdown(); // what is scheduled is done
    }

    private static void remove(SessionId id, SessionRemovals removals) {
        var unused = removals.add(id);
    }
}
