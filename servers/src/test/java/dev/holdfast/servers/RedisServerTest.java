package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class RedisServerTest {

    @Test
    void answersAndForgetsWhenItIsKilled() {
        try (RedisServer server = RedisServer.start()) {
            server.command("SET", "a", "1");
            assertThat(server.command("GET", "a")).containsExactly("1");

            server.kill();
            assertThat(server.process().isAlive()).isFalse();
            assertThatThrownBy(() -> server.command("GET", "a")).isInstanceOf(RedisException.class);

            server.restart();
            assertThat(server.command("EXISTS", "a")).isEqualTo(List.of(0L));
        }
    }

    @Test
    void asksForItsPassword() {
        try (RedisServer server =
                RedisServer.builder().password("open \"sesame").start()) {
            assertThat(server.command("PING")).containsExactly("PONG");
            try (RedisAdmin stranger = new RedisAdmin(server.port(), null)) {
                assertThatThrownBy(() -> stranger.command("PING"))
                        .isInstanceOf(RedisException.class)
                        .rootCause()
                        .hasMessageStartingWith("NOAUTH");
            }
        }
    }

    @Test
    void aPausedOneAnswersWhenItGoesOn() throws IOException {
        try (RedisServer server = RedisServer.start()) {
            server.process().pause();
            Path stat = Path.of("/proc", String.valueOf(server.process().pid()), "stat");
            assertThat(Files.readString(stat).replaceFirst(".*\\) ", "")).startsWith("T");
            CompletableFuture<Object> asked = CompletableFuture.supplyAsync(() -> server.command("SET", "late", "1"));
            server.process().resume();
            assertThat(asked.join()).isEqualTo(List.of("OK"));
        }
    }

    @Test
    void aServerThatCantStartSaysWhy() {
        assertThatThrownBy(() -> RedisServer.builder()
                        .option("maxmemory-policy", "nonsense")
                        .start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("maxmemory-policy");
    }
}
