package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is found when a store is opened, and what is never overwritten. */
@Tag("server")
class RedisOpeningTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private static void refused(Reason reason, ThrowingCallable open, String... words) {
        Throwable thrown = catchThrowable(open);
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        StoreException.class,
                        e -> assertThat(e.reason()).as("%s", e).isEqualTo(reason));
        assertThat(thrown).hasMessageContainingAll(words);
    }

    private static RedisURI as(TestServer server, String user, String password) {
        return as(server.port(), user, password);
    }

    private static RedisURI as(int port, String user, String password) {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(port)
                .withAuthentication(user, password.toCharArray())
                .build();
    }

    private static RedisStore.Builder storeAs(TestServer server, String user, String password) {
        return TestServer.patient(RedisStore.builder(as(server, user, password)));
    }

    @Test
    void nobodyThere() {
        try (TestServer server = TestServer.start()) {
            server.server().kill();
            refused(Reason.UNAVAILABLE, server::open, "127.0.0.1:" + server.port(), "can't be reached");
        }
    }

    @Test
    void serverThatDoesNotAnswer() {
        try (TestServer server = TestServer.start()) {
            server.server().process().pause();
            try {
                refused(
                        Reason.UNAVAILABLE,
                        () -> server.builder()
                                .connectTimeout(Duration.ofMillis(300))
                                .open(),
                        "can't be reached");
            } finally {
                server.server().process().resume();
            }
        }
    }

    @Test
    void wrongPasswordIsToldAndNotRepeated() {
        try (TestServer server = TestServer.withPassword("right")) {
            Throwable thrown = catchThrowable(
                    () -> storeAs(server, "default", "wrong-canary").open());
            assertThat(thrown)
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED));
            for (Throwable t = thrown; t != null; t = t.getCause()) {
                assertThat(t.toString()).doesNotContain("canary");
            }
            refused(Reason.DENIED, server::open, "password");
            try (RedisStore store = storeAs(server, "default", "right").open()) {
                assertThat(store.traits().product()).matches("(Redis|Valkey) [0-9].*");
            }
        }
    }

    /** What the driver sometimes reports for a refusal, when it first notices the end of the connection. */
    @Test
    void wrongPasswordIsToldThoughTheFirstAnswerIsNotHeard() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> serving = CompletableFuture.runAsync(() -> {
                refuse(listener, "");
                while (!listener.isClosed()) {
                    refuse(listener, "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
                }
            });
            RedisURI uri = as(listener.getLocalPort(), "default", "wrong");
            refused(
                    Reason.DENIED,
                    () -> TestServer.patient(RedisStore.builder(uri)).open(),
                    "rejects the user name or password");
            listener.close();
            serving.join();
        }
    }

    /** Hears the greeting of a client, answers, and hangs up when the client does or has no answer. */
    private static void refuse(ServerSocket listener, String answer) {
        try (Socket client = listener.accept()) {
            byte[] received = new byte[8_192];
            assertThat(client.getInputStream().read(received)).isPositive();
            client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            while (!answer.isEmpty() && client.getInputStream().read(received) >= 0) {
                client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // It hung up first, or the test has ended.
        }
    }

    /** The manual's list; nothing else is permitted, and everything works. */
    private static final List<String> NEEDED = Permissions.of(Permissions.SERVER);

    @Test
    void fewPermissionsAreEnough() {
        try (TestServer server = TestServer.start()) {
            permit(server, NEEDED.toArray(String[]::new));
            try (RedisStore store = storeAs(server, "locks", "change-me").open()) {
                SessionId session = session(store, HOUR);
                ClaimRef holder = claim("a", session, 1);
                send(store, acquire(holder), Reply.Granted.class);
                send(store, acquire(claim("a", session, 2)), Reply.Queued.class);
                send(store, new Command.Inspect("", Optional.empty(), 10), Reply.Inspected.class);
                send(store, new Command.Release(holder), Reply.Released.class);
                send(store, new Command.CloseSession(session), Reply.Done.class);
            }
            RedisClient client = RedisClient.create(RedisUnderTest.RESOURCES, as(server, "locks", "change-me"));
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                assertThat(catchThrowable(() -> connection.sync().flushall())).hasMessageContaining("NOPERM");
                assertThat(catchThrowable(() -> connection.sync().get("other"))).hasMessageContaining("NOPERM");
            } finally {
                client.shutdown(0, 1, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+eval",
                "+time",
                "+type",
                "+hget",
                "+hset",
                "+hsetnx",
                "+hdel",
                "+zadd",
                "+zrem",
                "+zscore",
                "+zrangebyscore",
                "+zrangebylex",
                "+zremrangebylex",
                "+publish",
                "+subscribe",
                "&holdfast:*",
                "~holdfast:*"
            })
    void missingPermissionIsToldAtOnce(String missing) {
        TestServer server = TestServer.shared();
        permit(server, NEEDED.stream().filter(rule -> !rule.equals(missing)).toArray(String[]::new));
        refused(Reason.DENIED, () -> storeAs(server, "locks", "change-me").open(), "permission");
        server.with(redis -> assertThat(redis.keys("holdfast:*")).isEmpty());
    }

    private static void permit(TestServer server, String... rules) {
        CommandArgs<String, String> arguments =
                new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("locks").add("reset");
        for (String rule : rules) {
            arguments.add(rule);
        }
        server.with(redis -> redis.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments));
    }

    @Test
    void serverThatMayEvictIsRefused() {
        try (TestServer server = TestServer.start("maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")) {
            refused(Reason.DENIED, server::open, "allkeys-lru", "noeviction");
            server.with(redis -> redis.configSet("maxmemory-policy", "volatile-ttl"));
            server.open().close();
        }
    }

    @Test
    void replicaIsRefused() {
        try (TestServer server = TestServer.start()) {
            server.with(
                    redis -> redis.replicaof("127.0.0.1", TestServer.shared().port()));
            refused(Reason.DENIED, server::open, "replica");
        }
    }

    @Test
    void nodeOfAClusterIsRefused() {
        try (TestServer server = TestServer.start("cluster-enabled", "yes")) {
            refused(Reason.DENIED, server::open, "Cluster");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h", "d", "o"})
    void whatIsNotOursIsLeftAsItIs(String letter) {
        String key = "foreign-" + letter + ":{0}:" + letter;
        TestServer server = TestServer.shared();
        server.with(redis -> redis.lpush(key, "precious"));
        refused(
                Reason.CORRUPT,
                () -> server.builder().namespace("foreign-" + letter).open(),
                key);
        server.with(redis -> {
            assertThat(redis.lrange(key, 0, -1)).containsExactly("precious");
            assertThat(redis.keys("foreign-" + letter + ":*")).containsExactly(key);
        });
    }

    /** Does something with a field that is no name. */
    @CanIgnoreReturnValue
    private static String byField(TestServer server, String command, String namespace, String field, String... value) {
        String[] arguments =
                Stream.concat(Stream.of(command, field), Arrays.stream(value)).toArray(String[]::new);
        AtomicReference<String> answer = new AtomicReference<>("");
        server.with(redis -> answer.set(String.valueOf((Object) redis.eval(
                "return tostring(redis.call(ARGV[1], KEYS[1], '\\255' .. ARGV[2], unpack(ARGV, 3)))",
                ScriptOutputType.VALUE,
                new String[] {namespace + ":{0}:h"},
                arguments))));
        return answer.get();
    }

    @Test
    void damagedCounterStopsEverything() {
        TestServer server = TestServer.shared();
        try (RedisStore store = server.builder().namespace("counter").open()) {
            SessionId session = session(store, HOUR);
            byField(server, "HSET", "counter", "", "rubbish");
            StoreException failure = failure(store, acquire(claim("a", session, 1)));
            assertThat(failure.reason()).isEqualTo(Reason.CORRUPT);
            assertThat(failure.effect()).isEqualTo(StoreException.Effect.NONE);
            assertThat(byField(server, "HGET", "counter", "")).isEqualTo("rubbish");
        }
    }

    @Test
    void damagedRecordIsNeverTakenForFree() {
        TestServer server = TestServer.shared();
        try (RedisStore store = server.builder().namespace("record").open()) {
            SessionId session = session(store, HOUR);
            ClaimRef holder = claim("a", session, 1);
            send(store, acquire(holder), Reply.Granted.class);
            server.with(redis -> redis.hset("record:{0}:h", "a", "rubbish"));
            StoreException failure = failure(store, acquire(claim("a", session, 2)));
            assertThat(failure.reason()).isEqualTo(Reason.CORRUPT);
            assertThat(failure.effect()).isEqualTo(StoreException.Effect.NONE);
            assertThat(failure(store, new Command.Release(holder)).reason()).isEqualTo(Reason.CORRUPT);
            server.with(redis -> assertThat(redis.hget("record:{0}:h", "a")).isEqualTo("rubbish"));
            // Others continue.
            send(store, acquire(claim("b", session, 3)), Reply.Granted.class);
        }
    }

    @Test
    void grantOfASessionThatWasRemovedByHandDoesNotLastForEver() {
        TestServer server = TestServer.shared();
        try (RedisStore store = server.builder().namespace("removed").open()) {
            SessionId first = session(store, HOUR);
            SessionId second = session(store, HOUR);
            send(store, acquire(claim("a", first, 1)), Reply.Granted.class);
            ClaimRef waits = claim("a", second, 1);
            send(store, acquire(waits), Reply.Queued.class);
            byField(server, "HDEL", "removed", first.value());
            send(store, new Command.KeepAlive(first, 0), Reply.SessionEnded.class);
            send(store, acquire(waits), Reply.Granted.class);
        }
    }
}
