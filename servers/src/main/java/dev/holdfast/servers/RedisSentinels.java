package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.RedisException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A primary with two replicas, and three Sentinels that watch over them. */
public final class RedisSentinels implements AutoCloseable {

    /** The name of the whole among the Sentinels. */
    public static final String NAME = "holdfast";

    private static final int REPLICAS = 2;
    private static final int SENTINELS = 3;
    private static final String QUORUM = "2";

    /**
     * How long a healthy primary may be silent: on a busy machine it may wait for seconds.
     */
    private static final String PATIENCE_MILLIS = "60000";

    /** How long it may be silent while another one is to take over. */
    private static final String FAIL_OVER_MILLIS = "1500";

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private final @Nullable Certificates certificates;

    private RedisSentinels(@Nullable Certificates certificates) {
        this.certificates = certificates;
    }

    /** Starts all, and returns when the Sentinels know each other and the replicas. */
    public static RedisSentinels start() {
        return new RedisSentinels(null).formed();
    }

    /** As {@link #start()}; all speak TLS with each other, and with clients at {@link #uri()}. */
    public static RedisSentinels start(Certificates certificates) {
        return new RedisSentinels(certificates).formed();
    }

    private RedisSentinels formed() {
        try {
            form();
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** The data servers; the first began as the primary. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** The Sentinels. */
    public List<RedisServer> sentinels() {
        return List.copyOf(sentinels);
    }

    /** The address by which a client finds the primary; over TLS if all speak that. */
    public String uri() {
        StringBuilder uri = new StringBuilder(certificates == null ? "redis-sentinel://" : "rediss-sentinel://");
        for (RedisServer sentinel : sentinels) {
            uri.append(sentinel == sentinels.get(0) ? "" : ",")
                    .append("127.0.0.1:")
                    .append(portOf(sentinel));
        }
        return uri.append("/0?master=").append(NAME).toString();
    }

    private int portOf(RedisServer server) {
        return certificates == null ? server.port() : server.tlsPort();
    }

    private RedisServer.Builder builder() {
        RedisServer.Builder builder = RedisServer.builder();
        return certificates == null ? builder : builder.tlsAmongServers(certificates);
    }

    /**
     * Who is the primary, as all Sentinels that live say; waits until they agree on one that lives and says so too, and
     * none is amidst a fail-over.
     *
     * <p>At the Sentinel that leads it, a fail-over continues long after all clients have moved to the new primary. If
     * the new primary fails then, the fail-over never ends there. If the other Sentinels return to the old primary,
     * that Sentinel does not follow them as long as the server it has promoted is down (Redis 7.0).
     */
    public RedisServer primary() {
        AtomicReference<@Nullable RedisServer> found = new AtomicReference<>();
        try {
            Until.await("the Sentinels agree on a primary", () -> {
                found.set(agreedPrimary());
                return found.get() != null;
            });
        } catch (IllegalStateException e) {
            throw new IllegalStateException(e.getMessage() + whatTheyLogged(), e);
        }
        return Objects.requireNonNull(found.get());
    }

    /**
     * Harms the primary and returns when another one has taken over. Only in this time do the Sentinels give up a
     * primary that is silent for a second and a half.
     *
     * @param fault what ends or silences the primary that it is given
     * @return the new primary
     */
    @CanIgnoreReturnValue
    public RedisServer failOver(Consumer<RedisServer> fault) {
        RedisServer old = primary();
        giveUpAfter(FAIL_OVER_MILLIS);
        try {
            fault.accept(old);
            Until.await("there is another primary", () -> primary() != old);
        } finally {
            giveUpAfter(PATIENCE_MILLIS);
        }
        return primary();
    }

    private void giveUpAfter(String millis) {
        for (RedisServer sentinel : sentinels) {
            sentinel.command("SENTINEL", "SET", NAME, "down-after-milliseconds", millis);
        }
    }

    private @Nullable RedisServer agreedPrimary() {
        List<RedisServer> watching = sentinels.stream()
                .filter(sentinel -> sentinel.process().isAlive())
                .toList();
        List<RedisServer> named =
                watching.stream().map(this::primaryAsSeenBy).distinct().toList();
        boolean isSettled = named.size() == 1
                && isPrimary(named.get(0))
                && watching.stream().noneMatch(RedisSentinels::leadsFailOver);
        return isSettled ? named.get(0) : null;
    }

    private static boolean leadsFailOver(RedisServer sentinel) {
        return sentinel.command("SENTINEL", "MASTER", NAME).stream()
                .anyMatch(part -> String.valueOf(part).contains("failover_in_progress"));
    }

    private RedisServer primaryAsSeenBy(RedisServer sentinel) {
        String port = String.valueOf(
                sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME).get(1));
        return servers.stream()
                .filter(server -> String.valueOf(portOf(server)).equals(port))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("A Sentinel names a primary at port " + port));
    }

    private String whatTheyLogged() {
        return sentinels.stream()
                .filter(sentinel -> sentinel.process().isAlive())
                .map(sentinel -> "\n\nThe Sentinel at " + portOf(sentinel) + ", which names "
                        + portOf(primaryAsSeenBy(sentinel)) + ", logged:\n"
                        + sentinel.process().log())
                .collect(Collectors.joining());
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }

    private static boolean isPrimary(RedisServer server) {
        try {
            ServerProcess process = server.process();
            return process.isAlive()
                    && !process.isPaused()
                    && server.info("role").equals("master");
        } catch (RedisException e) {
            return false;
        }
    }

    private void form() {
        servers.add(builder().start());
        RedisServer primary = servers.get(0);
        for (int i = 0; i < REPLICAS; i++) {
            servers.add(builder()
                    .option("replicaof", "127.0.0.1 " + portOf(primary))
                    .start());
        }
        Until.await(
                "the replicas are linked",
                () -> servers.stream()
                        .skip(1)
                        .allMatch(server -> server.info("master_link_status").equals("up")));
        for (int i = 0; i < SENTINELS; i++) {
            RedisServer sentinel = builder()
                    .flag("--sentinel")
                    .option("sentinel monitor " + NAME, "127.0.0.1 " + portOf(primary) + " " + QUORUM)
                    .option("sentinel down-after-milliseconds " + NAME, PATIENCE_MILLIS)
                    .option("sentinel failover-timeout " + NAME, "1000")
                    .start();
            sentinels.add(sentinel);
            // The pace of a real deployment would have a test wait for seconds. While the primary is down the replicas
            // are asked once a second, and what they said counts for five ping periods: a shorter one finds no heir.
            // One that stood still for two seconds, as on a machine that others use, does nothing for the tilt period.
            // Redis 6.2 has no other pace than that of a real deployment.
            if (primary.majorVersion() >= 7) {
                sentinel.command(
                        "SENTINEL",
                        "DEBUG",
                        "info-period",
                        "200",
                        "ping-period",
                        "300",
                        "ask-period",
                        "100",
                        "publish-period",
                        "100",
                        "election-timeout",
                        "1000",
                        "tilt-period",
                        "1000");
            }
        }
        Until.await(
                "the Sentinels know each other and the replicas",
                () -> sentinels.stream()
                        .allMatch(sentinel -> size(sentinel, "SENTINELS") == SENTINELS - 1
                                && size(sentinel, "REPLICAS") == REPLICAS));
    }

    private static int size(RedisServer sentinel, String what) {
        return sentinel.command("SENTINEL", what, NAME).size();
    }
}
