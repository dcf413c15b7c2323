package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("On connections of a pool whose default schema the program has changed")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class SpoiledConnectionsTest {

    /** Settings of a connection that HikariCP does not restore when it is returned. */
    enum Spoiling {
        SEARCH_PATH(TestDatabase.POSTGRES) {
            @Override
            void spoil(Connection connection, String other) throws SQLException {
                TestSource.execute(connection, "SET search_path TO \"" + other + "\"");
            }
        },
        SET_SCHEMA(TestDatabase.POSTGRES) {
            @Override
            void spoil(Connection connection, String other) throws SQLException {
                connection.setSchema(other);
            }
        },
        TEMPORARY_TABLES(TestDatabase.POSTGRES) {
            @Override
            void spoil(Connection connection, String other) throws SQLException {
                for (String table : new String[] {"resource", "claim", "session", "meta", "latch", "count"}) {
                    TestSource.execute(
                            connection,
                            "CREATE TEMPORARY TABLE IF NOT EXISTS holdfast_" + table + " (LIKE public.holdfast_" + table
                                    + " INCLUDING ALL)");
                }
                TestSource.execute(
                        connection,
                        "INSERT INTO pg_temp.holdfast_meta SELECT * FROM public.holdfast_meta ON CONFLICT DO NOTHING");
            }
        },
        USE(TestDatabase.MARIADB) {
            @Override
            void spoil(Connection connection, String other) throws SQLException {
                TestSource.execute(connection, "USE `" + other + "`");
            }
        },
        SET_CATALOG(TestDatabase.MARIADB) {
            @Override
            void spoil(Connection connection, String other) throws SQLException {
                connection.setCatalog(other);
            }
        };

        private final TestDatabase database;

        Spoiling(TestDatabase database) {
            this.database = database;
        }

        abstract void spoil(Connection connection, String other) throws SQLException;
    }

    static Stream<Arguments> spoilings() {
        return Stream.of(Spoiling.values())
                .flatMap(spoiling -> Stream.of(false, true).map(before -> Arguments.of(spoiling, before)));
    }

    @ParameterizedTest(name = "{0}, before the store opens: {1}")
    @MethodSource("spoilings")
    @DisplayName("a lock that is held is refused to the next client")
    void refusedWhileHeld(Spoiling spoiling, boolean before) throws Exception {
        String url = spoiling.database.newUrl();
        String other = "other_" + Grants.newUser();
        boolean isMaria = spoiling.database == TestDatabase.MARIADB;
        new TestSource(url).execute((isMaria ? "CREATE DATABASE " : "CREATE SCHEMA ") + other);
        try (HikariDataSource pool = pool(url);
                Holdfast first = client(JdbcStore.builder(new TestSource(url)))) {
            if (before) {
                spoil(spoiling, pool, other);
            }
            try (Holdfast second = client(JdbcStore.builder(pool))) {
                // Without tables there, a spoiled connection would fail.
                client(JdbcStore.builder(new TestSource(url)).schema(other)).close();
                spoil(spoiling, pool, other);
                try (Hold hold = first.lock("held").acquire()) {
                    assertThat(second.lock("held").tryLock()).isFalse();
                    assertThat(second.semaphore("permits", 1).tryAcquire(1)).isPresent();
                    assertThat(first.semaphore("permits", 1).tryAcquire(1)).isEmpty();
                    spoil(spoiling, pool, other);
                    assertThat(hold.isHeld()).isTrue();
                }
                assertThat(second.lock("held").tryLock()).isTrue();
                assertThat(first.lock("held").tryLock()).isFalse();
            }
        } finally {
            if (isMaria) {
                new TestSource(url).execute("DROP DATABASE " + other);
            }
        }
    }

    private static void spoil(Spoiling spoiling, HikariDataSource pool, String other) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            spoiling.spoil(connection, other);
        }
    }

    /** With one connection, so that every lent one is spoiled. */
    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(1);
        return new HikariDataSource(config);
    }

    private static Holdfast client(JdbcStore.Builder builder) {
        return Holdfast.builder(builder.open()).build();
    }
}
