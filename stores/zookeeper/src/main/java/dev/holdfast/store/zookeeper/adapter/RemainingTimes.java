package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ServerClock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Reads how long sessions last if they are not renewed. Thread-safe. */
final class RemainingTimes {

    /** The time of the leader is read again if its bounds are further apart than this. */
    private static final long UNCERTAIN_MICROS = 20_000;

    private static final byte[] NOTHING = {};

    private final NodeLayout layout;
    private final Requests requests;
    private final ZooKeeperSessions sessions;
    private final ServerClock clock;

    RemainingTimes(NodeLayout layout, Requests requests, ZooKeeperSessions sessions, ServerClock clock) {
        this.layout = layout;
        this.requests = requests;
        this.sessions = sessions;
        this.clock = clock;
    }

    CompletableFuture<Map<SessionId, Duration>> read(Set<SessionId> ids) {
        // A write replaces a sync, and returns the time as well.
        ServerTime now = clock.time();
        CompletableFuture<Boolean> synced = now.latestMicros() - now.earliestMicros() > UNCERTAIN_MICROS
                ? requests.set(layout.clock(), NOTHING)
                : requests.sync(layout.root());
        return Requests.each(ids, id -> left(id, synced));
    }

    private CompletableFuture<Optional<Duration>> left(SessionId id, CompletableFuture<Boolean> synced) {
        return sessions.read(id).thenCompose(session -> {
            if (session.isEmpty()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            return requests.get(layout.beat(id), null)
                    .thenCombine(
                            synced,
                            (beat, done) -> beat.map(node ->
                                    left(id, session.get().ttl(), node.stat().getMtime())));
        });
    }

    private Duration left(SessionId id, Duration ttl, long renewedMillis) {
        long end = renewedMillis * 1_000 + TimeUnit.NANOSECONDS.toMicros(ttl.toNanos());
        Duration byClock = Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(Math.min(
                Math.max(0, end - clock.time().latestMicros()), TimeUnit.NANOSECONDS.toMicros(ttl.toNanos()))));
        return sessions.left(id).filter(known -> known.compareTo(byClock) < 0).orElse(byClock);
    }
}
