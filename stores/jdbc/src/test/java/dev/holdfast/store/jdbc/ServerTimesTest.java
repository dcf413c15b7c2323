package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.mysql.MysqlProduct;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Time on a database server")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class ServerTimesTest {

    private static final String CLOCK = "(SELECT micros FROM holdfast_clock)";

    /**
     * Moments before, in and after the hours that daylight saving time skips or repeats, in zones that change at
     * different times.
     */
    private static final List<String> MOMENTS = List.of(
            "2026-03-29T00:59:59.999999Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T01:30:00.5Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00:00.000001Z",
            "2026-03-08T07:30:00Z",
            "2026-11-01T06:00:00Z",
            "2011-12-30T10:00:00Z");

    private static final List<String> ZONES =
            List.of("UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Pacific/Apia");

    private static long micros(String moment) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(moment));
    }

    @Test
    @DisplayName("is told by PostgreSQL as the same number in every time zone, also where summer time begins and ends")
    void postgresZones() throws SQLException {
        try (Connection connection = PostgresServer.shared().connect()) {
            for (String zone : ZONES) {
                TestSource.execute(connection, "SET TIME ZONE '" + zone + "'");
                for (String moment : MOMENTS) {
                    String clock =
                            PostgresProduct.CLOCK.replace("statement_timestamp()", "timestamptz '" + moment + "'");
                    assertThat(clock).isNotEqualTo(PostgresProduct.CLOCK);
                    assertThat(TestSource.text(connection, "SELECT " + clock))
                            .as("%s in %s", moment, zone)
                            .isEqualTo("" + micros(moment));
                }
            }
        }
    }

    @Test
    @DisplayName("is told by MariaDB as the same number in every time zone, also where summer time begins and ends")
    void mariaZones() throws SQLException {
        try (Connection connection = MariaDbOrMysql.shared().connect()) {
            for (String zone : List.of("+00:00", "+01:00", "+02:00", "-05:00", "+13:00", "-12:00")) {
                TestSource.execute(connection, "SET time_zone = '" + zone + "'");
                for (String moment : MOMENTS) {
                    long expected = micros(moment);
                    TestSource.execute(
                            connection,
                            "SET timestamp = " + expected / 1_000_000 + "."
                                    + String.format("%06d", expected % 1_000_000));
                    assertThat(TestSource.text(connection, "SELECT " + MysqlProduct.CLOCK))
                            .as("%s in %s", moment, zone)
                            .isEqualTo("" + expected);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is the same for clients whose machines and sessions are in different zones")
    void clientsInZones(TestDatabase database) throws Exception {
        String url = database.newUrl();
        TimeZone before = TimeZone.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Pacific/Apia"));
            try (Holdfast east = client(inZone(url, "Pacific/Apia", "+13:00"))) {
                TimeZone.setDefault(TimeZone.getTimeZone("America/St_Johns"));
                try (Holdfast west = client(inZone(url, "America/St_Johns", "-03:30"))) {
                    assertThat(Contention.of(List.of(east, west), 2, 10, "a")).isEqualTo(40);
                    try (Hold hold = east.lock("a").acquire()) {
                        assertThat(west.lock("a").tryLock()).isFalse();
                        assertThat(hold.isHeld()).isTrue();
                    }
                }
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    private static String inZone(String url, String name, String offset) {
        return url
                + (url.startsWith("jdbc:postgresql")
                        ? "&options=" + URLEncoder.encode("-c TimeZone=" + name, StandardCharsets.UTF_8)
                        // Of the two drivers, only MySQL's decodes values in a URL.
                        : "&sessionVariables=time_zone='"
                                + (url.startsWith("jdbc:mysql") ? offset.replace("+", "%2B") : offset) + "'");
    }

    private static Holdfast client(String url) {
        return Holdfast.builder(JdbcStore.builder(new DriverDataSource(url))
                        .keepsConnections()
                        .open())
                .build();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName(
            "that is set forward ends leases early, which holders are told; set back it keeps them; tokens rise over both")
    void stepped(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        source.execute(
                "CREATE TABLE holdfast_clock (micros BIGINT NOT NULL)",
                "INSERT INTO holdfast_clock VALUES (" + ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) + ")");
        try (Holdfast one = stepping(source)) {
            Hold first = one.lock("a").acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
            long token = first.fencingToken();
            step(source, Duration.ofHours(1));
            try (Holdfast other = stepping(source)) {
                Hold second = other.lock("a").acquire(Duration.ofSeconds(60));
                assertThat(second.fencingToken()).isGreaterThan(token);
                Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> !first.isHeld());
                step(source, Duration.ofHours(-3));
                assertThat(one.lock("a").tryAcquire()).isEmpty();
                token = second.fencingToken();
                second.close();
                try (Hold third = one.lock("a").acquire(Duration.ofSeconds(60))) {
                    assertThat(third.fencingToken()).isGreaterThan(token);
                }
            }
        }
    }

    private static Holdfast stepping(TestSource source) {
        return Holdfast.builder(JdbcStore.builder(new DriverDataSource(source.url()))
                        .keepsConnections()
                        .clock(CLOCK)
                        .open())
                .sessionTtl(Duration.ofMinutes(2))
                .keepAliveEvery(Duration.ofSeconds(1))
                .build();
    }

    private static void step(TestSource source, Duration by) throws SQLException {
        source.execute("UPDATE holdfast_clock SET micros = micros + " + by.toNanos() / 1_000);
    }
}
