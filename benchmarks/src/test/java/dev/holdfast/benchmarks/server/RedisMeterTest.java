package dev.holdfast.benchmarks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The meter of Redis")
@Tag("server")
class RedisMeterTest {

    private static final String[] PAIR_IN_SCRIPT = {
        "EVAL", "redis.call('SET', 'a', 1) return redis.call('DEL', 'a')", "0"
    };

    @Test
    @DisplayName("counts commands and operations of scripts, but not itself")
    void countsOperations() {
        try (RedisServer server = RedisServer.start();
                RedisMeter meter = new RedisMeter(server.uri())) {
            server.command("PING");
            Meter.Reading before = meter.read();
            server.command(PAIR_IN_SCRIPT);
            server.command("PING");
            assertThat(meter.read().since(before).operations()).isEqualTo(4);
            assertThat(meter.read().since(before).operations()).isEqualTo(4);
        }
    }

    @Test
    @DisplayName("tells what clients send from what runs in scripts")
    void tellsScriptsApart() {
        try (RedisServer server = RedisServer.start();
                RedisMeter meter = new RedisMeter(server.uri())) {
            Meter.Sample sample = new Meter.Sample(0, 0);
            // A busy machine may have nothing sent in so short a time.
            for (int attempt = 0; attempt < 100 && sample.commands() == 0; attempt++) {
                CompletableFuture<Meter.Sample> seen =
                        CompletableFuture.supplyAsync(() -> meter.sample(Duration.ofMillis(300)));
                while (!seen.isDone()) {
                    server.command(PAIR_IN_SCRIPT);
                }
                sample = seen.join();
            }
            assertThat(sample.commands()).isPositive();
            // It may begin and end within a script.
            assertThat(sample.inner()).isBetween(2 * sample.commands() - 2, 2 * sample.commands() + 2);
        }
    }

    @Test
    @DisplayName("sees each command of a client once, and its own readings not at all")
    void seesOthersOnly() {
        try (RedisServer server = RedisServer.start();
                RedisMeter meter = new RedisMeter(server.uri())) {
            server.command("PING");
            Meter.Sample sample = new Meter.Sample(0, 0);
            // On a busy machine the sample may be over before anything is sent.
            for (int attempt = 0; attempt < 20 && sample.commands() == 0; attempt++) {
                CompletableFuture<Meter.Sample> seen =
                        CompletableFuture.supplyAsync(() -> meter.sample(Duration.ofSeconds(5)));
                while (!seen.isDone() && !isLookedAt(server)) {
                    assertThat(server.process().isAlive()).isTrue();
                }
                for (int i = 0; i < 10; i++) {
                    assertThat(meter.read().operations()).isPositive();
                }
                server.command("SET", "a", "1");
                sample = seen.join();
            }
            // The last look for the monitor may be seen too; those before it are not.
            assertThat(sample.commands()).isBetween(1L, 2L);
        }
    }

    private static boolean isLookedAt(RedisServer server) {
        return server.command("CLIENT", "LIST", "TYPE", "NORMAL")
                .toString()
                .lines()
                .anyMatch(RedisMeterTest::isMonitor);
    }

    private static boolean isMonitor(String client) {
        return client.contains("cmd=monitor");
    }
}
