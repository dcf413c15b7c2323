package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.servers.CutConnections;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.ServerProcess;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a holder and its successor see of a server in trouble. */
@Tag("server")
class RedisTroubleTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofSeconds(2);

    private static Holdfast client(int port, String namespace, Duration ttl) {
        return Holdfast.builder("redis://127.0.0.1:" + port + "?namespace=" + namespace)
                .sessionTtl(ttl)
                .build();
    }

    private static CompletableFuture<Loss> lossOf(Hold hold) {
        CompletableFuture<Loss> loss = new CompletableFuture<>();
        hold.onLost(loss::complete);
        return loss;
    }

    /** A hold that is still good when its client is cut off, however long this process had to wait before that. */
    private static Hold cutOff(Holdfast client, Runnable fault, Runnable heal) throws Exception {
        for (int attempt = 0; attempt < 20; attempt++) {
            Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1));
            fault.run();
            if (hold.isHeld()) {
                return hold;
            }
            heal.run();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }
        throw new AssertionError("The lease always ends before the client is cut off");
    }

    /**
     * The holder learns of the loss by its own clock while the server is unreachable; the next holder has a greater
     * token.
     */
    private static void lost(Hold hold, Holdfast next, Runnable heal) throws Exception {
        Loss loss;
        try {
            loss = lossOf(hold).get(1, TimeUnit.MINUTES);
            assertThat(loss.cause()).isEqualTo(Loss.Cause.EXPIRED);
            assertThat(hold.isHeld()).isFalse();
        } finally {
            heal.run();
        }
        try (Hold successor = next.lock("ledger").acquire(Duration.ofMinutes(1))) {
            assertThat(successor.fencingToken()).isGreaterThan(loss.token());
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThat(successor.isHeld()).isTrue();
        }
    }

    @Test
    void serverThatIsStoppedPastTheLease() throws Exception {
        try (TestServer server = TestServer.start();
                Holdfast one = client(server.port(), "stopped", SHORT);
                Holdfast two = client(server.port(), "stopped", HOUR)) {
            ServerProcess process = server.server().process();
            lost(cutOff(one, process::pause, process::resume), two, process::resume);
        }
    }

    @Test
    void connectionsThatAreCutWhileIdleFailNoCall() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(TestServer.shared().port());
                Holdfast client = client(proxy.port(), "idle", HOUR)) {
            CutConnections.areNotNoticed(client, proxy::reset);
        }
    }

    @Test
    void cableThatIsCutPastTheLease() throws Exception {
        int port = TestServer.shared().port();
        try (FaultProxy proxy = FaultProxy.to(port);
                Holdfast one = client(proxy.port(), "cut", SHORT);
                Holdfast two = client(port, "cut", HOUR)) {
            lost(cutOff(one, proxy::blackHole, proxy::heal), two, () -> {});
            proxy.heal();
            one.lock("ledger").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"EVALSHA", "the-name"})
    void grantWhoseAnswerWasLostIsTheOneThatIsHeard(String cutAt) throws Exception {
        TestServer server = TestServer.shared();
        String namespace = "answer-" + cutAt;
        try (FaultProxy proxy = FaultProxy.to(server.port());
                Holdfast one = client(proxy.port(), namespace, HOUR)) {
            one.lock("other").acquire().close();
            proxy.cutAfterForwarding(cutAt);
            CompletableFuture<Hold> asked = one.lock("the-name").acquireAsync().toCompletableFuture();
            until("the answer was lost", () -> !proxy.isCutToCome());
            try (Hold hold = asked.get(1, TimeUnit.MINUTES)) {
                server.with(redis ->
                        assertThat(redis.hget(namespace + ":{0}:h", "the-name")).endsWith(" " + hold.fencingToken()));
            }
            until(
                    "it is released",
                    () -> server.server()
                            .command("HEXISTS", namespace + ":{0}:h", "the-name")
                            .equals(List.of(0L)));
        }
    }

    @Test
    void serverThatLostEverythingByACommand() throws Exception {
        try (TestServer server = TestServer.start();
                Holdfast one = Holdfast.builder(server.server().uri())
                        .sessionTtl(Duration.ofMinutes(1))
                        .keepAliveEvery(Duration.ofMillis(50))
                        .build()) {
            Hold hold = one.lock("ledger").acquire();
            long token = hold.fencingToken();
            CompletableFuture<Loss> loss = lossOf(hold);
            server.server().command("FLUSHALL");
            assertThat(loss.get(1, TimeUnit.MINUTES).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            try (Hold next = one.lock("ledger").acquire(Duration.ofMinutes(1))) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }
    }

    @Test
    void serverThatStillLoadsItsData() {
        assumeTrue(RedisServer.programVersion() >= 7, "Redis 6.2 can't be told to answer while it loads so little");
        try (TestServer server = TestServer.start(
                        "enable-debug-command", "yes", "loading-process-events-interval-bytes", "1024");
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            Reply before = send(store, acquire(claim("a", session, 1)));
            server.with(redis -> redis.mset(IntStream.range(0, 3_000)
                    .boxed()
                    .collect(Collectors.toMap(i -> "filler-" + i, i -> "x".repeat(100)))));
            // For a minute, unless that is shortened.
            server.server().command("CONFIG", "SET", "key-load-delay", "20000");
            Thread reload = new Thread(() -> server.server().command("DEBUG", "RELOAD"));
            server.with(redis -> {
                reload.start();
                until("the server says that it is loading", () -> {
                    Throwable thrown = catchThrowable(() -> send(store, new Command.KeepAlive(session, 0)));
                    return thrown != null
                            && thrown.getCause() instanceof StoreException known
                            && known.effect() == Effect.NONE
                            && known.reason() == Reason.UNAVAILABLE
                            && known.getMessage().contains("LOADING");
                });
                redis.configSet("key-load-delay", "0");
            });
            until("it is used again", () -> catchThrowable(() -> send(store, acquire(claim("a", session, 1)))) == null);
            assertThat(send(store, acquire(claim("a", session, 1)))).isEqualTo(before);
            until("all is loaded", () -> !reload.isAlive());
        }
    }

    @Test
    void serverThatCanNotSave() {
        try (TestServer server = TestServer.start("enable-protected-configs", "yes");
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
            server.server().command("CONFIG", "SET", "save", "3600 1");
            server.server().command("CONFIG", "SET", "dbfilename", ".");
            server.server().command("BGSAVE");
            until(
                    "the server could not save",
                    () -> server.server().info("rdb_last_bgsave_status").equals("err"));
            StoreException failure = failure(store, acquire(claim("b", session, 2)));
            assertThat(failure.reason()).isEqualTo(Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
            assertThat(failure).hasMessageContaining("MISCONF");
            server.server().command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
            send(store, acquire(claim("b", session, 3)), Reply.Granted.class);
            send(store, new Command.Release(claim("a", session, 1)), Reply.Released.class);
        }
    }

    /** Redis has no clock but the one that may be set. */
    @Test
    void clockOfTheServerThatIsSet() throws Exception {
        try (RedisUnderTest bench = RedisUnderTest.onManualTime();
                Holdfast one = Holdfast.builder(bench.first())
                        .sessionTtl(Duration.ofMinutes(1))
                        .keepAliveEvery(Duration.ofMillis(50))
                        .build();
                Holdfast two = Holdfast.builder(bench.second()).sessionTtl(HOUR).build()) {
            Hold hold = one.lock("ledger").acquire();
            long token = hold.fencingToken();
            CompletableFuture<Loss> loss = lossOf(hold);
            bench.advance(Duration.ofMinutes(10));
            long second;
            try (Hold next = two.lock("ledger").acquire(Duration.ofMinutes(1))) {
                second = next.fencingToken();
                assertThat(second).isGreaterThan(token);
                assertThat(loss.get(1, TimeUnit.MINUTES).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
                assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            }
            bench.advance(Duration.ofMinutes(-30));
            try (Hold again = two.lock("ledger").acquire(Duration.ofMinutes(1))) {
                assertThat(again.fencingToken()).isGreaterThan(second);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "}",
                "{}",
                "}{",
                "{a}b",
                "a{b}c",
                "\0",
                "a\0b",
                "*",
                "h?llo[a]",
                "a b\r\nc",
                "'; FLUSHALL",
                "\u202eé\ud83d\ude00"
            })
    void namesThatMeanSomethingElsewhere(String name) throws Exception {
        String longest = name + "x".repeat(512 - name.getBytes(StandardCharsets.UTF_8).length);
        int port = TestServer.shared().port();
        try (Holdfast one = client(port, "names", HOUR);
                Holdfast two = client(port, "names", HOUR)) {
            for (String each : new String[] {name, longest}) {
                try (Hold hold = one.lock(each).acquire()) {
                    assertThat(two.lock(each).tryLock()).isFalse();
                    assertThat(two.lock(each + "y".repeat(each == name ? 1 : 0)).tryLock())
                            .isEqualTo(each == name);
                    CompletableFuture<Hold> next = two.lock(each).acquireAsync().toCompletableFuture();
                    hold.close();
                    next.get(1, TimeUnit.MINUTES).close();
                }
            }
        }
    }
}
