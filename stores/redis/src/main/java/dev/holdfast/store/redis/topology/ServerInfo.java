package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.RedisFailures;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server's answer to {@code INFO}, if this user may ask for it. */
public final class ServerInfo {

    private static final Logger LOG = LoggerFactory.getLogger(ServerInfo.class);

    private final Map<String, String> fields = new HashMap<>();

    /** Reads the answer to {@code INFO}; empty if that is not permitted. */
    public ServerInfo(String info) {
        info.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
    }

    /** The name of the product with its version, for people. */
    public String product() {
        String valkey = fields.get("valkey_version");
        String redis = fields.get("redis_version");
        return valkey != null ? "Valkey " + valkey : redis != null ? "Redis " + redis : "Redis";
    }

    /**
     * Rejects a server on which locks would not be safe.
     *
     * @throws StoreException if it is too old, a node of a cluster, or may evict locks when its memory is full
     */
    void check(String server) {
        checkVersion(server);
        if ("1".equals(fields.get("cluster_enabled"))) {
            throw RedisFailures.denied(server + " is a node of a Redis Cluster: use the scheme redis-cluster://", null);
        }
        checkEviction(server);
    }

    /**
     * Rejects a cluster node on which locks would not be safe.
     *
     * @throws StoreException if it is too old, not part of a cluster, or may evict locks when its memory is full
     */
    void checkOfCluster(String server) {
        checkVersion(server);
        if ("0".equals(fields.get("cluster_enabled"))) {
            throw RedisFailures.denied(server + " is not a node of a Redis Cluster: use the scheme redis://", null);
        }
        checkEviction(server);
    }

    /** Whether it has at least this version; true if it hides its version. */
    boolean isAtLeast(int major, int minor) {
        return !isBefore(fields.getOrDefault("redis_version", "99.0"), major, minor);
    }

    /** Whether it reports its version. */
    boolean reportsVersion() {
        return fields.containsKey("redis_version");
    }

    private void checkVersion(String server) {
        if (!isAtLeast(6, 2)) {
            throw RedisFailures.denied(
                    server + " is " + product() + ", but Holdfast needs Redis 6.2 or newer, or Valkey", null);
        }
    }

    private void checkEviction(String server) {
        String policy = fields.get("maxmemory_policy");
        if (policy == null) {
            LOG.warn(
                    "server={} does not let this user read its maxmemory-policy: make sure that it "
                            + "is noeviction, otherwise locks may be evicted",
                    server);
        } else if (policy.startsWith("allkeys-")) {
            // The store's keys never expire, so the policies that evict only expiring keys are harmless.
            if (!"0".equals(fields.get("maxmemory"))) {
                throw RedisFailures.denied(
                        server + " may evict locks when its memory is full: its maxmemory-policy is " + policy
                                + ". Set it to noeviction, or use a separate server for locks",
                        null);
            }
            LOG.warn(
                    "server={} has the maxmemory-policy {}: once maxmemory is set, it may evict "
                            + "locks; set the policy to noeviction",
                    server,
                    policy);
        }
    }

    /**
     * The conditions that cost locks now or may do so at any moment: a name for each, and a sentence for the server's
     * operator.
     */
    public Map<String, String> troubles() {
        Map<String, String> troubles = new LinkedHashMap<>();
        String policy = fields.getOrDefault("maxmemory_policy", "");
        boolean isLimited = !fields.getOrDefault("maxmemory", "0").equals("0");
        if (isLimited && policy.startsWith("allkeys-")) {
            troubles.put(
                    "maxmemory-policy",
                    "may evict locks when its memory is full: its maxmemory-policy is " + policy
                            + ". Set it to noeviction, or use a separate server for locks");
        }
        if (isLimited && number("used_memory") > number("maxmemory")) {
            troubles.put(
                    "maxmemory",
                    "has reached its maxmemory: it accepts no new claims or sessions, and existing "
                            + "ones continue. Give it more memory");
        }
        if ("0".equals(fields.get("min_slaves_good_slaves"))) {
            troubles.put(
                    "min-replicas-to-write",
                    "has too few healthy replicas for its min-replicas-to-write: it accepts no "
                            + "writes, including keep-alives, so locks are lost when their leases expire. "
                            + "Bring the replicas back");
        }
        if ("err".equals(fields.get("rdb_last_bgsave_status")) || "err".equals(fields.get("aof_last_write_status"))) {
            troubles.put(
                    "persistence",
                    "could not save its data: unless stop-writes-on-bgsave-error is 'no', it "
                            + "accepts no writes (MISCONF), including keep-alives, so locks are lost when "
                            + "their leases expire. Check its disk");
        }
        return troubles;
    }

    private long number(String fact) {
        try {
            return Long.parseLong(fields.getOrDefault(fact, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** Whether it is a replica, which rejects writes. */
    boolean isReplica() {
        return "slave".equals(fields.get("role"));
    }

    private static boolean isBefore(String version, int major, int minor) {
        String[] parts = version.split("\\.", 3);
        try {
            int itsMajor = Integer.parseInt(parts[0]);
            int itsMinor = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
            return itsMajor < major || (itsMajor == major && itsMinor < minor);
        } catch (NumberFormatException e) {
            return false;
        }
    }
}
