package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("server")
class RedisStoreProviderTest {

    @ParameterizedTest
    @CsvSource({
        "redis://localhost, localhost, 6379, 0",
        "redis://localhost/, localhost, 6379, 0",
        "redis://localhost:7000/3, localhost, 7000, 3",
        "redis://user:p%40ss@10.0.0.1:7000, 10.0.0.1, 7000, 0",
        "redis://:pass@[::1]:7000/1, ::1, 7000, 1",
        "redis://[::1], ::1, 6379, 0",
    })
    void placeIsRead(String uri, String host, int port, int database) {
        RedisURI server = RedisUris.builder(StoreUri.parse(uri)).servers().get(0);
        assertThat(server.getHost()).isEqualTo(host);
        assertThat(server.getPort()).isEqualTo(port);
        assertThat(server.getDatabase()).isEqualTo(database);
    }

    @Test
    void credentialsAreDecoded() {
        RedisURI server = RedisUris.builder(StoreUri.parse("redis://us%3Aer:p%40s+s%2F@host"))
                .servers()
                .get(0);
        var credentials = server.getCredentialsProvider().resolveCredentials().block(Duration.ofSeconds(60));
        assertThat(credentials).isNotNull();
        assertThat(credentials.getUsername()).isEqualTo("us:er");
        assertThat(new String(credentials.getPassword())).isEqualTo("p@s+s/");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis:localhost",
                "redis://",
                "redis://:6379",
                "redis://host:0",
                "redis://host:65536",
                "redis://host:x",
                "redis://host/x",
                "redis://host/-1",
                "redis://canary@host",
                "redis://us%zzer:canary@host",
                "redis://::1",
                "redis://host?unknown=1",
                "redis://host?timeout=5",
                "redis://host?timeout=PT0S",
                "redis://host?namespace=a%7Bb",
            })
    void whatIsNotOfTheFormIsRefusedWithoutSecrets(String uri) {
        Throwable thrown =
                catchThrowable(() -> RedisUris.builder(StoreUri.parse(uri)).open());
        assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            assertThat(t.toString()).doesNotContain("canary");
        }
    }

    @Test
    void isFoundByItsScheme() throws Exception {
        StoreUri uri = StoreUri.parse("redis://127.0.0.1:" + TestServer.shared().port()
                + "/2?namespace=found&timeout=PT30S&connectTimeout=PT1M");
        try (LockStore store = StoreProvider.of(uri).open(uri)) {
            assertThat(store.traits().product()).startsWith("Redis ");
        }
    }
}
