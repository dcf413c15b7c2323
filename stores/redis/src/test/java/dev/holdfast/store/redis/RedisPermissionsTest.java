package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The user of the manual may do what locks need, and nothing that harms others. The rules of every store are checked as
 * this user, too.
 */
@Tag("server")
class RedisPermissionsTest {

    private static TestServer server() {
        return TestServer.start(
                "aclfile", Permissions.SERVER.toAbsolutePath().normalize().toString());
    }

    private static RedisURI locks(TestServer server) {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(server.port())
                .withAuthentication("locks", "change-me".toCharArray())
                .build();
    }

    @Test
    void whatIsDangerousIsDenied() {
        try (TestServer server = server()) {
            RedisClient client = RedisClient.create(RedisUnderTest.RESOURCES, locks(server));
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                for (String command : List.of(
                        "FLUSHALL",
                        "FLUSHDB",
                        "CONFIG GET *",
                        "CONFIG SET maxmemory 1",
                        "KEYS *",
                        "SCAN 0",
                        "GET other",
                        "DEL holdfast:{0}:r",
                        "EVAL return(redis.call('del','holdfast:{0}:r')) 1 holdfast:{0}:r",
                        "EVAL return(redis.call('hget','other','x')) 1 other",
                        "PUBLISH other x",
                        "SUBSCRIBE other",
                        "PSUBSCRIBE *",
                        "SCRIPT FLUSH",
                        "CLIENT KILL TYPE normal",
                        "REPLICAOF NO ONE",
                        "SHUTDOWN",
                        "MONITOR",
                        "ACL LIST")) {
                    assertThatThrownBy(() -> ask(connection, command.split(" ")))
                            .as(command)
                            .hasMessageMatching("(?s).*(NOPERM|no permission|can't access|can't run this command).*");
                }
            } finally {
                client.shutdown(0, 1, TimeUnit.SECONDS);
            }
        }
    }

    private static void ask(StatefulRedisConnection<String, String> connection, String... words) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        for (int i = 1; i < words.length; i++) {
            arguments.add(words[i]);
        }
        var unused = connection
                .sync()
                .dispatch(
                        () -> words[0].getBytes(StandardCharsets.US_ASCII),
                        new NestedMultiOutput<>(StringCodec.UTF8),
                        arguments);
    }

    @Test
    void replicasMayBeWaitedFor() {
        try (TestServer server = server();
                RedisStore store = TestServer.patient(RedisStore.builder(locks(server)))
                        .waitForReplicas(1, Duration.ofMillis(20))
                        .open()) {
            StoreException failure = failure(store, acquire(claim("a", session(store, Duration.ofMinutes(1)), 1)));
            assertThat(failure.reason()).isEqualTo(StoreException.Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(StoreException.Effect.NONE);
            assertThat(failure).hasMessageContaining("0 of the required 1 replicas");
        }
    }

    @Test
    void waitingForReplicasWithoutPermissionIsToldAtOnce() {
        try (TestServer server = TestServer.start()) {
            Permissions.grant(server.server(), "locks", Permissions.SERVER, "holdfast:*");
            server.server().command("ACL", "SETUSER", "locks", "-wait");
            RedisStore.Builder builder = TestServer.patient(RedisStore.builder(locks(server)));
            builder.open().close();
            assertThatThrownBy(() ->
                            builder.waitForReplicas(1, Duration.ofMillis(20)).open())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("permission");
        }
    }
}
