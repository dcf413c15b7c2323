package dev.holdfast.store.redis;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.UnansweredCalls;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Calls end in time while a Redis server stands still")
@Tag("C15")
@Tag("server")
class UnansweredWaitTest {

    private static Holdfast.Builder client(RedisServer server) {
        String timeout = UnansweredCalls.LONG_WAIT.toString();
        return Holdfast.builder(
                "redis://127.0.0.1:" + server.port() + "?connectTimeout=" + timeout + "&timeout=" + timeout);
    }

    @Test
    @MostlyWaits
    @DisplayName("and what they asked for is given back")
    void calls() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            UnansweredCalls.endInTime(client(server), server.process()::pause, server.process()::resume);
        }
    }

    @Test
    @MostlyWaits
    @DisplayName("and so does the opening of a client")
    void opening() {
        try (RedisServer server = RedisServer.start()) {
            server.process().pause();
            try {
                UnansweredCalls.endsInTime(client(server).storeTimeout(Duration.ofSeconds(5))::build);
            } finally {
                server.process().resume();
            }
        }
    }
}
