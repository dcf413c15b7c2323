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
 * Warns of settings and states of a server that cost locks and may arise while the store is open: an eviction policy
 * that drops locks, missing replicas, a disk that can't be written, full memory. Asks each server once per ttl, when a
 * session there is audited, and when it refuses a write. Each problem is logged when it begins and when it ends.
 * Thread-safe.
 */
final class ServerMonitor {

    static final Logger LOG = LoggerFactory.getLogger(ServerMonitor.class);

    /** The shortest interval between two checks of a server, however short the sessions are. */
    private static final Duration SHORTEST = Duration.ofMillis(200);

    private static final String REFUSALS = "refusals";

    private final LongSupplier ticks;
    private final Logger log;

    /** The shortest ttl of a session; an hour until there is a session. */
    private final AtomicLong interval = new AtomicLong(Duration.ofHours(1).toNanos());

    private final Map<String, MonitoredServer> servers = new ConcurrentHashMap<>();

    ServerMonitor(LongSupplier ticks, Logger log) {
        this.ticks = ticks;
        this.log = log;
    }

    /** The known problems of one server. */
    private static final class MonitoredServer {
        private final AtomicLong askedAt;

        /** The logged problems that have not ended, by name. */
        @GuardedBy("this")
        private Map<String, String> troubles = Map.of();

        private MonitoredServer(long askedAt) {
            this.askedAt = new AtomicLong(askedAt);
        }

        /** Whether this problem has just begun. */
        private synchronized boolean isFirst(String trouble) {
            if (troubles.containsKey(trouble)) {
                return false;
            }
            // Its message is logged after the server's answer.
            troubles = new TreeMap<>(troubles);
            troubles.put(trouble, "");
            return true;
        }

        /** Stores the current problems and returns the previous ones. */
        private synchronized Map<String, String> replace(Map<String, String> present) {
            Map<String, String> before = troubles;
            troubles = present;
            return before;
        }
    }

    /** Adapts the interval to the ttl of a new session. */
    void opened(Duration ttl) {
        interval.accumulateAndGet(Math.max(ttl.toNanos(), SHORTEST.toNanos()), Math::min);
    }

    /** Checks the server of an audited session, unless that was done less than a ttl ago. */
    void audited(Route route) {
        long now = ticks.getAsLong();
        MonitoredServer server = server(route, now);
        long before = server.askedAt.get();
        if (now - before >= interval.get() && server.askedAt.compareAndSet(before, now)) {
            ask(route, server, Map.of());
        }
    }

    /** Checks a server that refused something an operator must fix, unless it was refusing before. */
    void refused(Route route, StoreException why) {
        long now = ticks.getAsLong();
        if (why.reason() == Reason.DENIED && server(route, now).isFirst(REFUSALS)) {
            ask(route, server(route, now), Map.of(REFUSALS, "rejects commands that locks need: " + why.getMessage()));
        }
    }

    private MonitoredServer server(Route route, long now) {
        return servers.computeIfAbsent(route.server(), name -> new MonitoredServer(now - interval.get()));
    }

    private void ask(Route route, MonitoredServer monitored, Map<String, String> known) {
        String server = route.server();
        StatefulRedisConnection<byte[], byte[]> connection = route.current();
        if (connection == null) {
            return;
        }
        try {
            connection.async().info().whenComplete((info, failure) -> {
                Map<String, String> present = new TreeMap<>(known);
                present.putAll(new ServerInfo(info == null ? "" : info).troubles());
                report(server, monitored, present);
            });
        } catch (RuntimeException e) {
            log.debug("server={} its health could not be queried", server, e);
        } catch (Error e) {
            // The command that is being sent must not fail because of this.
            log.error("server={} its health could not be queried", server, e);
        }
    }

    private void report(String server, MonitoredServer monitored, Map<String, String> present) {
        Map<String, String> before = monitored.replace(present);
        present.forEach((name, words) -> {
            if (before.getOrDefault(name, "").isEmpty()) {
                log.warn("server={} {}", server, words);
            }
        });
        before.keySet().stream()
                .filter(name -> !present.containsKey(name))
                .forEach(name -> log.info("server={} has recovered: {}", server, name));
    }
}
