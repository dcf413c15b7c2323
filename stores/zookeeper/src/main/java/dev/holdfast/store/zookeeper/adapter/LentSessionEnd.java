package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends the sessions that were open when a store with a borrowed handle was closed. Otherwise their nodes would last as
 * long as the handle. A thread waits for their ttls, ends the sessions, and exits.
 */
final class LentSessionEnd {

    /** The delays after the ttl; several, because the connection may be lost at that time. */
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
