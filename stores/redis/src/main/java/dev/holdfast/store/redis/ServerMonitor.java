package dev.holdfast.store.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.redis.topology.Route;
import dev.holdfast.store.redis.topology.ServerInfo;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of settings and states of a server that cost locks, and that may come up while the store is open: an eviction
 * policy that throws locks away, replicas that are missing, a disk that can't be written, memory that is full. Asks
 * each server once per ttl, when a session there is audited, and when it refuses a write. Each trouble is logged when
 * it begins and when it ends. Thread-safe.
 */
final class ServerMonitor {

    static final Logger LOG = LoggerFactory.getLogger(ServerMonitor.class);

    /** Servers are asked no more often than that, however short the sessions are. */
    private static final Duration SHORTEST = Duration.ofMillis(200);

    private static final String REFUSALS = "refusals";

    private final LongSupplier ticks;
    private final Logger log;

    /** The shortest ttl of a session, or an hour until there is one. */
    private final AtomicLong interval = new AtomicLong(Duration.ofHours(1).toNanos());

    private final Map<String, Watched> servers = new ConcurrentHashMap<>();

    ServerMonitor(LongSupplier ticks, Logger log) {
        this.ticks = ticks;
        this.log = log;
    }

    /** What is known of one server. */
    private static final class Watched {
        private final AtomicLong askedAt;

        /** The troubles that were logged and have not ended, by their names. */
        @GuardedBy("this")
        private Map<String, String> troubles = Map.of();

        private Watched(long askedAt) {
            this.askedAt = new AtomicLong(askedAt);
        }

        /** Whether a trouble begins now that has not been seen before. */
        private synchronized boolean isFirst(String trouble) {
            if (troubles.containsKey(trouble)) {
                return false;
            }
            // Its words are logged when the server has told what it knows of it.
            troubles = new TreeMap<>(troubles);
            troubles.put(trouble, "");
            return true;
        }

        /** Takes note of the present troubles, and gives those before. */
        private synchronized Map<String, String> replace(Map<String, String> present) {
            Map<String, String> before = troubles;
            troubles = present;
            return before;
        }
    }

    /** A session with this ttl is opened: it is to be told in time. */
    void opened(Duration ttl) {
        interval.accumulateAndGet(Math.max(ttl.toNanos(), SHORTEST.toNanos()), Math::min);
    }

    /**
     * A session is audited on the server at the other end of a route: asks it how it is, if that was not done for a
     * ttl.
     */
    void audited(Route route) {
        long now = ticks.getAsLong();
        Watched watched = watched(route, now);
        long before = watched.askedAt.get();
        if (now - before >= interval.get() && watched.askedAt.compareAndSet(before, now)) {
            ask(route, watched, Map.of());
        }
    }

    /** The server has refused something that a person must see to: asks it how it is, unless it was refusing before. */
    void refused(Route route, StoreException why) {
        long now = ticks.getAsLong();
        if (why.reason() == Reason.DENIED && watched(route, now).isFirst(REFUSALS)) {
            ask(route, watched(route, now), Map.of(REFUSALS, "refuses what locks need: " + why.getMessage()));
        }
    }

    private Watched watched(Route route, long now) {
        return servers.computeIfAbsent(route.server(), name -> new Watched(now - interval.get()));
    }

    private void ask(Route route, Watched watched, Map<String, String> known) {
        String server = route.server();
        StatefulRedisConnection<byte[], byte[]> connection = route.current();
        if (connection == null) {
            return;
        }
        try {
            connection.async().info().whenComplete((info, failure) -> {
                Map<String, String> present = new TreeMap<>(known);
                present.putAll(new ServerInfo(info == null ? "" : info).troubles());
                tell(server, watched, present);
            });
        } catch (RuntimeException e) {
            log.debug("server={} could not be asked how it is", server, e);
        } catch (Error e) {
            // Whoever sends a command has nothing to do with it.
            log.error("server={} could not be asked how it is", server, e);
        }
    }

    private void tell(String server, Watched watched, Map<String, String> present) {
        Map<String, String> before = watched.replace(present);
        present.forEach((name, words) -> {
            if (before.getOrDefault(name, "").isEmpty()) {
                log.warn("server={} {}", server, words);
            }
        });
        before.keySet().stream()
                .filter(name -> !present.containsKey(name))
                .forEach(name -> log.info("server={} is well again: {}", server, name));
    }
}
