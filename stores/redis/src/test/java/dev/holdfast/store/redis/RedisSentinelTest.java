package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.RedisSentinels;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of locks when another server becomes the primary. */
@Tag("server")
class RedisSentinelTest {

    /** A replica that is well may be slow to say so. */
    private static final String TOO_FEW = "(?s).*[01] of the required 2 replicas.*";

    @SuppressWarnings("NullAway.Init")
    private static RedisSentinels all;

    @BeforeAll
    static void start() {
        all = RedisSentinels.start();
    }

    @AfterAll
    static void end() {
        all.close();
    }

    /** A primary with two replicas that have all it has. */
    @BeforeEach
    void restore() {
        for (RedisServer server : all.servers()) {
            if (!server.process().isAlive()) {
                server.restart();
            }
        }
        until("two replicas are in step", () -> isReplicated(all.primary()));
    }

    private static boolean isReplicated(RedisServer primary) {
        return says(primary, "connected_slaves", "2")
                && primary.command("WAIT", "2", "100").equals(List.of(2L));
    }

    /** Not if the connection breaks, as it does when a server changes its role. */
    private static boolean says(RedisServer server, String key, String value) {
        try {
            return server.info(key).equals(value);
        } catch (RedisException e) {
            return false;
        }
    }

    private static Holdfast client(String namespace) {
        return client(namespace, Duration.ofMinutes(2));
    }

    private static Holdfast client(String namespace, Duration ttl) {
        return Holdfast.builder(all.uri() + "&namespace=" + namespace + "&timeout=PT1M")
                .sessionTtl(ttl)
                .keepAliveEvery(Duration.ofMillis(100))
                .build();
    }

    @Test
    void holdAndWaiterOutliveAFailOver() throws Exception {
        try (Holdfast one = client("outlives");
                Holdfast two = client("outlives")) {
            Hold hold = one.lock("ledger").acquire();
            long token = hold.fencingToken();
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            until("the other one waits", () -> hasWaiter("outlives"));
            RedisServer old = all.primary();
            until("all has been copied", () -> isReplicated(old));
            all.failOver(RedisServer::kill);
            // Renewed there, and signalled from there.
            until("the session is renewed at the new primary", () -> hold.isHeld());
            hold.close();
            try (Hold next = waiting.get(1, TimeUnit.MINUTES)) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }
    }

    @Test
    void primaryThatIsSilentIsLeftWhenAnotherIsElected() throws Exception {
        try (Holdfast client = client("silent")) {
            client.lock("ledger").acquire().close();
            RedisServer old = all.primary();
            AtomicReference<CompletableFuture<Hold>> asked = new AtomicReference<>();
            try {
                RedisServer heir = all.failOver(primary -> {
                    primary.process().pause();
                    asked.set(client.lock("ledger").acquireAsync().toCompletableFuture());
                });
                // No connection breaks, and no command would time out for a minute: the Sentinels report it.
                Hold hold = asked.get().get(50, TimeUnit.SECONDS);
                assertThat(heir).isNotSameAs(old);
                assertThat(names(heir, "silent")).containsExactly("ledger");
                old.process().resume();
                until("the old one is a replica", () -> says(old, "role", "slave"));
                hold.close();
                client.lock("ledger").acquire().close();
            } finally {
                old.process().resume();
            }
        }
    }

    @Test
    void failOverThatForgetsAGrantIsToldAndTokensRise() throws Exception {
        // What was forgotten without its session is found by the audit, once per ttl.
        try (Holdfast one = client("forgets", Duration.ofSeconds(14));
                Holdfast two = client("forgets")) {
            two.lock("other").acquire().close();
            RedisServer old = all.primary();
            until("all has been copied", () -> isReplicated(old));
            // The replicas can't come back, so they lack what is written from now on.
            old.command("ACL", "SETUSER", "default", "-sync", "-psync");
            old.command("CLIENT", "KILL", "TYPE", "replica");
            until("the replicas are cut off", () -> old.info("connected_slaves").equals("0"));
            Hold hold = one.lock("ledger").acquire();
            long token = hold.fencingToken();
            CompletableFuture<Loss> loss = new CompletableFuture<>();
            hold.onLost(loss::complete);
            all.failOver(RedisServer::kill);
            try (Hold next = two.lock("ledger").acquire(Duration.ofMinutes(1))) {
                assertThat(next.fencingToken()).isGreaterThan(token);
                assertThat(all.primary()).isNotSameAs(old);
                assertThat(loss.get(1, TimeUnit.MINUTES).name()).isEqualTo("ledger");
                assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
                assertThat(next.isHeld()).isTrue();
            }
        }
    }

    @Test
    void nameThatTheSentinelsDoNotKnowIsRefused() {
        String uri = all.uri().replace("master=" + RedisSentinels.NAME, "master=nobody");
        assertThatThrownBy(() -> RedisUris.builder(StoreUri.parse(uri)).open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.DENIED))
                .hasMessageContaining("'nobody'");
    }

    @Test
    void sentinelsThatAreAwayAreNamed() {
        assertThatThrownBy(() -> RedisUris.builder(StoreUri.parse(
                                "redis-sentinel://127.0.0.1:1,127.0.0.1:2?master=x&connectTimeout=PT0.5S"))
                        .open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.UNAVAILABLE))
                .hasMessageContainingAll("Sentinel", "'x'");
    }

    @Test
    @Tag("smoke")
    @Tag("driver")
    void oneSentinelIsEnough() throws Exception {
        String one = "redis-sentinel://127.0.0.1:1,127.0.0.1:"
                + all.sentinels().get(1).port() + "?master=" + RedisSentinels.NAME;
        try (Holdfast client = Holdfast.connect(one)) {
            client.lock("ledger").acquire().close();
        }
    }

    @Test
    void userOfTheManualMayAskTheSentinelsAndNoMore() throws Exception {
        for (RedisServer sentinel : all.sentinels()) {
            Permissions.grant(sentinel, "locks", Permissions.SENTINEL, "");
        }
        String user = "&sentinelUser=locks&sentinelPassword=change-me";
        try (Holdfast client = Holdfast.connect(all.uri() + user)) {
            client.lock("ledger").acquire().close();
        }
        String place =
                "redis://locks:change-me@127.0.0.1:" + all.sentinels().get(0).port();
        RedisClient plain = RedisClient.create(RedisUnderTest.RESOURCES, place);
        try (StatefulRedisSentinelConnection<String, String> asked = plain.connectSentinel()) {
            assertThat(asked.sync().master(RedisSentinels.NAME)).containsKey("ip");
            assertThatThrownBy(() -> asked.sync().failover(RedisSentinels.NAME)).hasMessageContaining("NOPERM");
            assertThatThrownBy(() -> asked.sync().remove(RedisSentinels.NAME)).hasMessageContaining("NOPERM");
        } finally {
            plain.shutdown(0, 1, TimeUnit.SECONDS);
        }
        assertThatThrownBy(() -> Holdfast.connect(all.uri() + user.replace("change-me", "wrong")))
                .isInstanceOf(StoreRefusedException.class);
    }

    @Test
    void passwordForTheSentinelsIsReadFromItsFileForEveryQuestion(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("password"), "change-me\n");
        for (RedisServer sentinel : all.sentinels()) {
            Permissions.grant(sentinel, "filed", Permissions.SENTINEL, "");
        }
        String uri = all.uri() + "&namespace=filed&sentinelUser=filed&sentinelPasswordFile=" + file;
        assertThatThrownBy(() -> RedisUris.builder(StoreUri.parse(uri + "&sentinelPassword=change-me"))
                        .open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sentinelPasswordFile");
        try (Holdfast client = Holdfast.connect(uri)) {
            client.lock("ledger").acquire().close();
            Files.writeString(file, "another");
            for (RedisServer sentinel : all.sentinels()) {
                sentinel.command("ACL", "SETUSER", "filed", "resetpass", ">another");
                sentinel.command("CLIENT", "KILL", "USER", "filed");
            }
            // It asks where the primary is before it connects again.
            all.primary().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            until("it has found the primary again", () -> locks(client));
            until(
                    "it listens to every Sentinel again",
                    () -> all.sentinels().stream()
                            .allMatch(sentinel -> String.valueOf(
                                            sentinel.command("CLIENT", "LIST").get(0))
                                    .lines()
                                    .anyMatch(line -> line.contains("user=filed") && line.contains("sub=1"))));
        }
        Files.writeString(file, "change-me");
        assertThatThrownBy(() -> Holdfast.connect(uri)).isInstanceOf(StoreRefusedException.class);
    }

    private static boolean locks(Holdfast client) {
        try {
            client.lock("ledger").acquire().close();
            return true;
        } catch (HoldfastException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void grantThatNoReplicaHasDoesNotCount() throws Exception {
        String waits = all.uri() + "&timeout=PT1M&namespace=counts&waitForReplicas=2&replicaTimeout=";
        // Only the one that is to be refused is short of time: a replica may be late, or come back after a fail-over.
        try (Holdfast one = Holdfast.connect(waits + "PT0.2S");
                Holdfast patient = Holdfast.builder(waits + "PT30S")
                        .sessionTtl(Duration.ofMinutes(2))
                        .build();
                Holdfast two = Holdfast.connect(all.uri() + "&namespace=counts")) {
            patient.lock("ledger").acquire().close();
            RedisServer primary = all.primary();
            RedisServer lagging = all.servers().stream()
                    .filter(server -> server != primary)
                    .findFirst()
                    .orElseThrow();
            lagging.process().pause();
            try {
                assertThatThrownBy(() -> one.lock("ledger").acquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageMatching(TOO_FEW);
                until("the grant is withdrawn", () -> names(primary, "counts").isEmpty());
                // One that is made when another claim ends does not count either.
                Hold hold = two.lock("ledger").acquire();
                CompletableFuture<Hold> waiting =
                        one.lock("ledger").acquireAsync().toCompletableFuture();
                until("the other one waits", () -> hasWaiter("counts"));
                hold.close();
                assertThatThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
                        .hasCauseInstanceOf(HoldfastException.class)
                        .hasMessageMatching(TOO_FEW);
                until("that is withdrawn too", () -> names(primary, "counts").isEmpty());
            } finally {
                lagging.process().resume();
            }
            until("both replicas are there", () -> isReplicated(all.primary()));
            try (Hold hold = two.lock("ledger").acquire()) {
                CompletableFuture<Hold> waiting =
                        patient.lock("ledger").acquireAsync().toCompletableFuture();
                until("the other one waits", () -> hasWaiter("counts"));
                hold.close();
                waiting.get(1, TimeUnit.MINUTES).close();
            }
        }
    }

    private static List<Object> names(RedisServer server, String namespace) {
        return server.command(
                "EVAL",
                "local names = {} for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do "
                        + "if string.byte(field) ~= 255 then names[#names + 1] = field end end return names",
                "1",
                namespace + ":{0}:h");
    }

    private static boolean hasWaiter(String namespace) {
        try (RedisStore store = RedisUris.builder(StoreUri.parse(all.uri() + "&namespace=" + namespace))
                .open()) {
            return Asking.waiting(store, "") > 0;
        }
    }
}
