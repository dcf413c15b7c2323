package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server says of itself, as far as it may be asked. */
final class ServerFacts {

    private static final Logger LOG = LoggerFactory.getLogger(ServerFacts.class);

    private final Map<String, String> facts = new HashMap<>();

    /** Reads what the server answers to {@code INFO}; nothing if that is not permitted. */
    ServerFacts(String info) {
        info.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                facts.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
    }

    /** The name of the product with its version, for people. */
    String product() {
        String valkey = facts.get("valkey_version");
        String redis = facts.get("redis_version");
        return valkey != null ? "Valkey " + valkey : redis != null ? "Redis " + redis : "Redis";
    }

    /**
     * Refuses a server on which locks would not be safe.
     *
     * @throws StoreException if it is too old, a node of a cluster, or may throw locks away when its memory is full
     */
    void check(String server) {
        checkVersion(server);
        if ("1".equals(facts.get("cluster_enabled"))) {
            throw denied(server + " is a node of a Redis Cluster: connect to it by redis-cluster://");
        }
        checkEviction(server);
    }

    /**
     * Refuses a node of a cluster on which locks would not be safe.
     *
     * @throws StoreException if it is too old, no node of a cluster, or may throw locks away when its memory is full
     */
    void checkOfCluster(String server) {
        checkVersion(server);
        if ("0".equals(facts.get("cluster_enabled"))) {
            throw denied(server + " is not a node of a Redis Cluster: connect to it by redis://");
        }
        checkEviction(server);
    }

    /** Whether it is of a version or a newer one; so is one that does not tell. */
    boolean isAtLeast(int major, int minor) {
        return !isBefore(facts.getOrDefault("redis_version", "99.0"), major, minor);
    }

    /** Whether it says of which version it is. */
    boolean tellsVersion() {
        return facts.containsKey("redis_version");
    }

    private void checkVersion(String server) {
        if (!isAtLeast(6, 2)) {
            throw denied(server + " is " + product() + ", but locks need Redis 6.2 or newer, or Valkey");
        }
    }

    private void checkEviction(String server) {
        String policy = facts.get("maxmemory_policy");
        if (policy == null) {
            LOG.warn(
                    "server={} does not tell its maxmemory-policy to this user: make sure that it is noeviction, or locks may vanish",
                    server);
        } else if (policy.startsWith("allkeys-")) {
            // The keys of the store never expire, so the policies that evict only what does leave them alone.
            if (!"0".equals(facts.get("maxmemory"))) {
                throw denied(server + " may throw locks away when its memory is full: its maxmemory-policy is " + policy
                        + ". Set it to noeviction, or keep locks on a server of their own");
            }
            LOG.warn(
                    "server={} has the maxmemory-policy {}: with a limit to its memory it would throw locks away; set it to noeviction",
                    server,
                    policy);
        }
    }

    /** Whether it is a replica, which takes no writes. */
    boolean isReplica() {
        return "slave".equals(facts.get("role"));
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

    private static StoreException denied(String why) {
        return new StoreException(Reason.DENIED, Effect.NONE, why, null);
    }
}
