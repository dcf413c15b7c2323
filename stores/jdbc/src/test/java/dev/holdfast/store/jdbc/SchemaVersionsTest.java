package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The version after the present one, in these tests, adds a table, a nullable column and one with a
 * default.
 */
@DisplayName("The tables of locks on a server")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class SchemaVersionsTest {

    private static JdbcStore.Builder builder(String url) {
        return JdbcStore.builder(new DriverDataSource(url)).keepsConnections();
    }

    private static JdbcStore.Builder newer(String url) {
        return builder(url).versions("1.0", "1.1", "1.2");
    }

    private static String version(String url) throws SQLException {
        return new TestSource(url).text("SELECT version FROM holdfast_meta");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("get what a newer program adds while older ones use them, and both go on with the same locks")
    void oldAndNewTogether(TestDatabase database) throws Exception {
        String url = database.newUrl();
        try (Holdfast old = Holdfast.builder(builder(url).open()).build();
                Hold kept = old.lock("kept").acquire()) {
            assertThat(version(url)).isEqualTo("1001");
            try (Holdfast young = Holdfast.builder(newer(url).open()).build();
                    Holdfast later = Holdfast.builder(builder(url).open()).build()) {
                assertThat(version(url)).isEqualTo("1002");
                assertThat(young.lock("kept").tryLock()).isFalse();
                assertThat(kept.isHeld()).isTrue();
                List<Holdfast> all = List.of(old, young, later);
                assertThat(Contention.of(all, 3, 15, "a", "b")).isEqualTo(135);
                for (Holdfast one : all) {
                    assertThat(one.semaphore("s", 3).tryAcquire(1)).isPresent();
                    assertThat(one.latch("l-" + all.indexOf(one)).trySetCount(1))
                            .isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("of a version that is too old are left as they are by a program that may not change them")
    void neverAddsNothing(TestDatabase database) throws SQLException {
        String url = database.newUrl();
        builder(url).open().close();
        assertThatThrownBy(
                        () -> newer(url).initialize(JdbcStore.Initialize.NEVER).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContainingAll("have version 1.1", "-leases-1.2.sql", "initialize=never");
        assertThat(version(url)).isEqualTo("1001");
        newer(url).open().close();
        newer(url).initialize(JdbcStore.Initialize.NEVER).open().close();
        builder(url).initialize(JdbcStore.Initialize.NEVER).open().close();
        builder(url).initialize(JdbcStore.Initialize.ALWAYS).open().close();
        assertThat(version(url)).isEqualTo("1002");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName(
            "of another major version are refused in words, and nothing of them is changed, whatever was asked for")
    void anotherMajorVersion(TestDatabase database) throws SQLException {
        String url = database.newUrl();
        builder(url).open().close();
        TestSource source = new TestSource(url);
        for (String version : List.of("2000", "2003", "999")) {
            source.execute("UPDATE holdfast_meta SET version = " + version, "DROP TABLE IF EXISTS holdfast_count");
            for (JdbcStore.Initialize initialize : JdbcStore.Initialize.values()) {
                assertThatThrownBy(() -> newer(url).initialize(initialize).open())
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining(version.equals("999") ? "an older program" : "a newer program")
                        .hasMessageContaining("nothing was changed");
            }
            assertThat(version(url)).isEqualTo(version);
            assertThat(source.text("SELECT count(*) FROM information_schema.tables WHERE table_name = 'holdfast_count'"
                            + (database == TestDatabase.MARIADB ? " AND table_schema = DATABASE()" : "")))
                    .isEqualTo("0");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("that somebody began to make and did not finish are completed, or told to be incomplete")
    void halfMade(TestDatabase database) throws SQLException {
        String url = database.newUrl();
        builder(url).open().close();
        TestSource source = new TestSource(url);
        source.execute("DELETE FROM holdfast_meta", "DROP TABLE holdfast_latch");
        assertThatThrownBy(() ->
                        builder(url).initialize(JdbcStore.Initialize.NEVER).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContainingAll("incomplete", "-leases-1.0.sql");
        builder(url).open().close();
        assertThat(source.text("SELECT count(*) FROM holdfast_latch")).isEqualTo("0");
        source.execute("DROP TABLE holdfast_latch");
        assertThatThrownBy(() -> builder(url).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("holdfast_latch")
                .hasMessageMatching("(?s).*(are missing|do not exist).*");
        builder(url).initialize(JdbcStore.Initialize.ALWAYS).open().close();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("are made once when many programs start at the same moment")
    void manyAtOnce(TestDatabase database) throws Exception {
        String url = database.newUrl();
        int programs = 6;
        CyclicBarrier start = new CyclicBarrier(programs);
        ExecutorService executor = Executors.newFixedThreadPool(programs);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < programs; i++) {
            JdbcStore.Builder builder = i % 2 == 0 ? builder(url) : newer(url);
            all.add(executor.submit(() -> {
                start.await(60, TimeUnit.SECONDS);
                builder.open().close();
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(60, TimeUnit.SECONDS);
        }
        executor.shutdown();
        assertThat(version(url)).isEqualTo("1002");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("may be in a schema of their own, whose name is taken as it is, with a prefix of their own")
    void inASchema(TestDatabase database) throws Exception {
        String url = database.newUrl();
        String schema = "Order_" + Grants.newUser();
        JdbcStore.Builder builder = builder(url).schema(schema).tablePrefix("shop_");
        assertThatThrownBy(builder::open)
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("there is no schema '" + schema + "'");
        boolean isMaria = database == TestDatabase.MARIADB;
        new TestSource(url).execute(isMaria ? "CREATE DATABASE `" + schema + "`" : "CREATE SCHEMA \"" + schema + "\"");
        try (Holdfast one = Holdfast.builder(builder.open()).build();
                Holdfast other = Holdfast.builder(
                                builder.initialize(JdbcStore.Initialize.NEVER).open())
                        .build();
                Holdfast elsewhere = Holdfast.builder(builder(url).open()).build()) {
            assertThat(Contention.of(List.of(one, other), 3, 10, "a", "b")).isEqualTo(60);
            try (Hold hold = one.lock("a").acquire()) {
                assertThat(hold.isHeld()).isTrue();
                assertThat(other.lock("a").tryLock()).isFalse();
                assertThat(elsewhere.lock("a").tryLock()).isTrue();
            }
        }
        assertThat(new TestSource(url)
                        .text("SELECT count(*) FROM " + (isMaria ? "`" + schema + "`" : "\"" + schema + "\"")
                                + ".shop_resource"))
                .isEqualTo("2");
        if (isMaria) {
            new TestSource(url).execute("DROP DATABASE `" + schema + "`");
        }
    }

    @Test
    @DisplayName("have names that are checked before anything is asked for")
    void identifiers() {
        JdbcStore.Builder builder = builder("jdbc:none:");
        for (String bad : List.of("", "a b", "a\"b", "a`b", "a;b", "a.b", "1a", "é", "x".repeat(64))) {
            assertThatThrownBy(() -> builder.schema(bad)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> builder.tablePrefix(bad)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
