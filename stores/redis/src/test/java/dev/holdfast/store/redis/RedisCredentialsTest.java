package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import io.lettuce.core.AclSetuserArgs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where passwords come from, and where they never go. */
@Tag("server")
class RedisCredentialsTest {

    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @CanIgnoreReturnValue
    private Path file(String content) throws IOException {
        return Files.writeString(directory.resolve("password"), content);
    }

    @Test
    void passwordIsReadFromItsFileForEveryConnection() throws IOException {
        Path file = file("first\n");
        try (TestServer server = TestServer.withPassword("first")) {
            String uri = "redis://127.0.0.1:" + server.port() + "?passwordFile=" + file;
            try (RedisStore store = RedisUris.builder(StoreUri.parse(uri)).open()) {
                SessionId session = session(store, HOUR);
                file("second");
                server.server().command("CONFIG", "SET", "requirepass", "second");
                server.server().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                until(
                        "the store has connected with the new password",
                        () -> catchThrowable(() -> Asking.send(store, new Command.KeepAlive(session, 0))) == null);
            }
        }
    }

    @Test
    void userOfAnAccessListMayHaveAFileToo() throws IOException {
        Path file = file("p@ss:word");
        TestServer server = TestServer.shared();
        server.with(redis -> redis.aclSetuser(
                "filed",
                AclSetuserArgs.Builder.on()
                        .addPassword("p@ss:word")
                        .allCommands()
                        .allKeys()
                        .allChannels()));
        String uri = "redis://filed@127.0.0.1:" + server.port() + "?namespace=filed&passwordFile=" + file;
        try (RedisStore store = RedisUris.builder(StoreUri.parse(uri)).open()) {
            assertThat(session(store, HOUR)).isNotNull();
            server.with(redis -> assertThat(redis.clientList()).contains("user=filed"));
        }
    }

    @Test
    void callbackIsAskedAgainForEveryConnection() {
        AtomicReference<String> password = new AtomicReference<>("first");
        AtomicInteger asked = new AtomicInteger();
        try (TestServer server = TestServer.withPassword("first");
                RedisStore store = server.builder()
                        .password(null, () -> {
                            asked.incrementAndGet();
                            return password.get().toCharArray();
                        })
                        .open()) {
            SessionId session = session(store, HOUR);
            int before = asked.get();
            password.set("second");
            server.server().command("CONFIG", "SET", "requirepass", "second");
            server.server().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            until(
                    "the store has connected with the new password",
                    () -> catchThrowable(() -> Asking.send(store, new Command.KeepAlive(session, 0))) == null);
            assertThat(asked.get()).isGreaterThan(before);
        }
    }

    @Test
    void passwordThatIsOutdatedIsToldWhileThereIsNoConnection() {
        try (TestServer server = TestServer.withPassword("first");
                RedisStore store =
                        server.builder().password(null, "first"::toCharArray).open()) {
            SessionId session = session(store, HOUR);
            server.server().command("CONFIG", "SET", "requirepass", "second");
            server.server().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            until("it is said what is wrong", () -> {
                Throwable thrown = catchThrowable(() -> Asking.send(store, new Command.KeepAlive(session, 0)));
                return thrown != null && thrown.getMessage().contains("WRONGPASS");
            });
        }
    }

    @Test
    void fileThatIsNotThereIsNamed() {
        Path missing = directory.resolve("missing");
        Throwable thrown = catchThrowable(() -> RedisUris.builder(StoreUri.parse(
                        "redis://127.0.0.1:" + TestServer.shared().port() + "?passwordFile=" + missing))
                .open());
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED))
                .hasMessageContaining(missing.toString());
    }

    /** Failures that involve a password, and everything reported about them, including the driver's debug log. */
    @Test
    void passwordsAreNeverSaid() throws IOException {
        Path file = file("canary");
        Queue<String> said = new ConcurrentLinkedQueue<>();
        Handler handler = new Handler() {
            private final SimpleFormatter formatter = new SimpleFormatter();

            @Override
            public void publish(LogRecord record) {
                said.add(formatter.format(record));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        // Where the driver and its network library write when there is nothing else to write to.
        List<Logger> loggers = List.of(Logger.getLogger("io.lettuce"), Logger.getLogger("io.netty"));
        for (Logger logger : loggers) {
            logger.setLevel(Level.FINE);
            logger.setUseParentHandlers(false);
            logger.addHandler(handler);
        }
        try (TestServer server = TestServer.withPassword("right")) {
            int port = server.port();
            try (Holdfast right = Holdfast.connect("redis://:right@127.0.0.1:" + port)) {
                said.add(right.toString());
                said.add(String.valueOf(catchThrowable(() -> right.lock("a").tryLock())));
            }
            assertThat(said).anyMatch(line -> line.contains("127.0.0.1:" + port));
            assertThat(said).noneMatch(line -> line.contains("right"));
            for (String uri : List.of(
                    "redis://:canary@127.0.0.1:" + port,
                    "redis://somebody:canary@127.0.0.1:" + port,
                    "redis://127.0.0.1:" + port + "?passwordFile=" + file,
                    "rediss://:canary@127.0.0.1:" + port + "?connectTimeout=PT0.3S",
                    "rediss://:canary@127.0.0.1:" + port + "?verify=x",
                    "redis://:canary@127.0.0.1:1",
                    "redis://:canary@127.0.0.1:" + port + "?unknown=1",
                    "redis://:canary@127.0.0.1:" + port + "?timeout=x",
                    "redis://:canary@127.0.0.1:" + port + "?passwordFile=" + file,
                    "redis://:canary@127.0.0.1:" + port + "?waitForReplicas=-1",
                    "redis://:canary@127.0.0.1," + port,
                    "redis-sentinel://:canary@127.0.0.1:" + port
                            + "?master=x&sentinelUser=somebody&sentinelPassword=canary",
                    "redis-sentinel://:canary@127.0.0.1:1?sentinelPassword=canary")) {
                said.add(StoreUri.parse(uri).toString());
                said.add(trace(catchThrowable(() -> Holdfast.connect(uri))));
            }
            said.add(trace(catchThrowable(() ->
                    server.builder().password("user", "canary"::toCharArray).open())));
            said.add(trace(catchThrowable(() -> server.builder()
                    .password("user", () -> {
                        throw new IllegalStateException("no canary today");
                    })
                    .open())));
            RedisStore.Builder builder = RedisUris.builder(StoreUri.parse("redis://:canary@127.0.0.1:" + port));
            said.add(builder.toString());
            said.add(String.valueOf(builder.servers()));
        } finally {
            for (Logger logger : loggers) {
                logger.removeHandler(handler);
                logger.setUseParentHandlers(true);
                logger.setLevel(null);
            }
        }
        assertThat(said).noneMatch(line -> line.contains("canary"));
    }

    private static String trace(Throwable thrown) {
        assertThat(thrown).isNotNull();
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }
}
