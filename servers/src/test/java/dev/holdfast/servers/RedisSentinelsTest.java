package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RedisSentinelsTest {

    @Test
    void agreeOnAnotherPrimaryWhenOneDies() {
        try (RedisSentinels all = RedisSentinels.start()) {
            RedisServer first = all.primary();
            assertThat(first).isSameAs(all.servers().get(0));
            first.command("SET", "a", "1");
            assertThat(first.command("WAIT", "2", "5000")).containsExactly(2L);

            first.kill();
            Until.isSo("there is another primary", () -> all.primary() != first);
            assertThat(all.primary().command("GET", "a")).containsExactly("1");
        }
    }
}
