package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class RedisSentinelsTest {

    @Test
    void agreeOnAnotherPrimaryWhenOneDies() {
        try (RedisSentinels all = RedisSentinels.start()) {
            RedisServer first = all.primary();
            assertThat(first).isSameAs(all.servers().get(0));
            first.command("SET", "a", "1");
            assertThat(first.command("WAIT", "2", "20000")).containsExactly(2L);

            RedisServer second = all.failOver(RedisServer::kill);
            assertThat(second).isNotSameAs(first);
            assertThat(second.command("GET", "a")).containsExactly("1");
        }
    }

    @Test
    void agreeSoonAfterTheyStoodStill() {
        try (RedisSentinels all = RedisSentinels.start()) {
            RedisServer first = all.primary();
            assumeTrue(
                    first.majorVersion() >= 7, "the Sentinels of Redis 6.2 do nothing for 30 s when they stood still");
            List<ServerProcess> watching =
                    all.sentinels().stream().map(RedisServer::process).toList();
            watching.forEach(ServerProcess::pause);
            long pausedAt = System.nanoTime();
            Until.await("they stood still for long", () -> System.nanoTime() - pausedAt > 3_000_000_000L);
            watching.forEach(ServerProcess::resume);
            Until.await(
                    "they have noticed it",
                    () -> watching.stream().noneMatch(one -> one.logged("+tilt").isEmpty()));

            assertThat(all.failOver(RedisServer::kill)).isNotSameAs(first);
        }
    }
}
