package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.SlowMachine;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.testkit.SilentConnections;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Connections to a database that go silent, while new ones work, cost no hold")
@Tag("C19")
@Tag("mysql")
@Tag("postgres")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SilentConnectionsTest {

    /** The store of a URI, with the default time-out multiplied by a factor. */
    private static LockStore byUri(String jdbc, int factor) {
        URI parsed = URI.create(jdbc.substring("jdbc:".length()));
        String user = parsed.getQuery().replaceAll(".*user=([^&]*).*", "$1");
        String tls = switch (parsed.getScheme()) {
            case "mariadb" -> "sslMode=disable";
            case "mysql" -> "sslMode=REQUIRED";
            default -> "sslmode=disable";
        };
        return new JdbcStoreProvider()
                .open(StoreUri.parse(parsed.getScheme() + "://" + user + "@" + parsed.getAuthority() + parsed.getPath()
                        + "?timeout=" + Duration.ofSeconds(10L * factor) + "&" + tls));
    }

    private static String through(FaultProxy proxy, String jdbc) {
        return jdbc.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/");
    }

    private static int port(String jdbc) {
        return URI.create(jdbc.substring("jdbc:".length())).getPort();
    }

    /**
     * A hold outlasts a silence of three times its ttl; no other client gets the lock meanwhile, and one does
     * afterwards.
     */
    private static void lasts(
            TestDatabase database,
            Duration ttl,
            Duration keepAliveEvery,
            int factor,
            BiFunction<String, Integer, LockStore> opening)
            throws Exception {
        String url = database.newUrl();
        Duration timeout = Duration.ofSeconds(10L * factor);
        try (FaultProxy proxy = FaultProxy.to(port(url));
                LockStore store = opening.apply(through(proxy, url), factor);
                LockStore direct = byUri(url, factor);
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(ttl)
                        .keepAliveEvery(keepAliveEvery)
                        .storeTimeout(timeout)
                        .build();
                Holdfast other = Holdfast.builder(direct)
                        .sessionTtl(Duration.ofMinutes(2))
                        .storeTimeout(timeout)
                        .build()) {
            SilentConnections.outlast(client, other, ttl, proxy::silence, proxy::silent);
            Awaitility.await("silent connections are given up")
                    .atMost(60, TimeUnit.SECONDS)
                    .until(() -> proxy.silent() == 0);
        }
    }

    static Stream<Arguments> ofAll() {
        return Stream.of(TestDatabase.POSTGRES, TestDatabase.MARIADB)
                .flatMap(database -> Stream.of("PT1.5S", "PT2S", "PT6S").map(ttl -> arguments(database, ttl)));
    }

    @ParameterizedTest
    @MethodSource("ofAll")
    @DisplayName("with the usual time-outs, and the store's own connections")
    void ownConnections(TestDatabase database, String text) throws Exception {
        Duration ttl = Duration.parse(text);
        SlowMachine.copes(ttl, factor -> {
            Duration longer = ttl.multipliedBy(factor);
            lasts(database, longer, longer.dividedBy(3), factor, SilentConnectionsTest::byUri);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2_001, 2_000})
    @DisplayName("of a pool whose driver can't end them are warned of, with both durations, if they wait for too long")
    void timeoutOfAPool(int millis) throws Exception {
        try (Connection connection =
                DriverManager.getConnection(TestDatabase.MARIADB.newUrl() + "&socketTimeout=" + millis)) {
            String warning = ReadTimeout.of(connection).warning(Duration.ofSeconds(6));
            if (MariaDbOrMysql.isMysql() || millis == 2_000) {
                assertThat(warning).isNull();
            } else {
                assertThat(warning)
                        .contains(
                                "a ttl of 6 s",
                                millis == 0 ? "for an answer forever" : "for an answer for 2.001 s",
                                "socketTimeout");
            }
        }
    }

    @Test
    @DisplayName("of PostgreSQL can be ended by its driver, and are not warned of")
    void timeoutThatDoesNotMatter() throws Exception {
        try (Connection connection = DriverManager.getConnection(TestDatabase.POSTGRES.newUrl())) {
            assertThat(ReadTimeout.of(connection).warning(Duration.ofMillis(200)))
                    .isNull();
        }
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("of a pool of one, which lends it unchecked when it was in use just before")
    void pool(TestDatabase database) throws Exception {
        Duration ttl = Duration.ofSeconds(8);
        SlowMachine.copes(ttl, factor -> {
            try (HikariDataSource pool = new HikariDataSource()) {
                lasts(database, ttl.multipliedBy(factor), Duration.ofMillis(100), factor, (url, times) -> {
                    HikariConfig config = new HikariConfig();
                    // MariaDB's driver cannot abort a connection while a thread waits for an answer.
                    Duration wait = ttl.multipliedBy(times).dividedBy(4);
                    config.setJdbcUrl(
                            database == TestDatabase.MARIADB ? url + "&socketTimeout=" + wait.toMillis() : url);
                    config.setMaximumPoolSize(1);
                    config.setValidationTimeout(1_000L * times);
                    config.copyStateTo(pool);
                    return JdbcStore.builder(pool).open();
                });
            }
        });
    }
}
