package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Calls end in time while a Redis server stands still")
@Tag("C15")
@Tag("server")
class UnansweredWaitTest {

    /** Far above all waits here, for a machine that is busy, and far below the time-outs of the store. */
    private static final Duration IN_TIME = Duration.ofSeconds(60);

    private static Holdfast.Builder client(RedisServer server) {
        return Holdfast.builder("redis://127.0.0.1:" + server.port() + "?connectTimeout=PT2M&timeout=PT2M")
                .storeTimeout(Duration.ofSeconds(5))
                .sessionTtl(Duration.ofMinutes(10));
    }

    private static void endsInTime(ThrowingCallable call) {
        long began = System.nanoTime();
        assertThatThrownBy(call).isInstanceOf(StoreUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(IN_TIME);
    }

    @Test
    @DisplayName("and what they asked for is given back")
    void calls() throws Exception {
        try (RedisServer server = RedisServer.start();
                Holdfast client = client(server).build()) {
            client.lock("first").acquire(IN_TIME).close();
            server.process().pause();
            try {
                endsInTime(() -> client.lock("wait").acquire(Duration.ofSeconds(2)));
                endsInTime(() -> client.lock("try").tryLock());
                endsInTime(() -> client.lock("unbounded").lock());
            } finally {
                server.process().resume();
            }
            for (String name : List.of("wait", "try", "unbounded")) {
                client.lock(name)
                        .acquireAsync()
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS)
                        .close();
            }
        }
    }

    @Test
    @DisplayName("and so does the opening of a client")
    void opening() {
        try (RedisServer server = RedisServer.start()) {
            server.process().pause();
            try {
                endsInTime(client(server)::build);
            } finally {
                server.process().resume();
            }
        }
    }
}
