package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The schema of the tables")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class SchemaResolutionTest {

    /** Connections whose settings a program has changed before they are lent. */
    private static final class Changed extends TestSource {
        private final String statement;

        Changed(String url, String statement) {
            super(url);
            this.statement = statement;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            TestSource.execute(connection, statement);
            return connection;
        }
    }

    private static JdbcStore.Builder builder(String url) {
        return JdbcStore.builder(new DriverDataSource(url));
    }

    private static void assertDenied(ThrowingCallable opening, String... words) {
        assertThatThrownBy(opening)
                .isInstanceOf(StoreException.class)
                .hasMessageContainingAll(words)
                .extracting(e -> ((StoreException) e).reason())
                .isEqualTo(StoreException.Reason.DENIED);
    }

    private static String product(JdbcStore.Builder builder) {
        try (JdbcStore store = builder.open()) {
            return store.traits().product();
        }
    }

    private static String tables(String url) throws SQLException {
        return new TestSource(url)
                .text("SELECT count(*) FROM information_schema.tables WHERE table_name = 'holdfast_meta'");
    }

    /** A user who owns a schema with the same name. */
    private static String newOwner(String url) throws SQLException {
        String user = Grants.newUser();
        new TestSource(url)
                .execute(
                        "CREATE ROLE " + user + " LOGIN PASSWORD 'change-me'",
                        "CREATE SCHEMA " + user + " AUTHORIZATION " + user,
                        "GRANT CREATE ON SCHEMA public TO " + user);
        return user;
    }

    private static String newDatabase(String name) throws SQLException {
        String url = TestDatabase.MARIADB.newUrl();
        new TestSource(url).execute("CREATE DATABASE " + name);
        return url;
    }

    @Test
    @DisplayName("of two users is never silently their own: no tables are made in a schema with the user's name")
    void ownSchema() throws Exception {
        String url = TestDatabase.POSTGRES.newUrl();
        String user = newOwner(url);
        String other = newOwner(url);
        String one = Grants.asUser(url, user);
        assertDenied(() -> builder(one).open(), "'" + user + "'", "named after the user", "'schema' in the URI");
        assertThat(tables(url)).isEqualTo("0");
        assertThat(product(builder(one).schema("public"))).endsWith(", schema public");
        new TestSource(url).execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + other);
        try (Holdfast first = Holdfast.builder(builder(one).open()).build();
                Holdfast second = Holdfast.builder(
                                builder(Grants.asUser(url, other)).open())
                        .build();
                Hold hold = first.lock("a").acquire()) {
            assertThat(hold.isHeld()).isTrue();
            assertThat(second.lock("a").tryLock()).isFalse();
        }
        assertThat(product(builder(one).schema(user))).endsWith(", schema " + user);
        // Existing tables are used, and several are reported.
        assertThat(product(builder(one))).endsWith(", schema " + user);
        assertThat(product(builder(Grants.asUser(url, other)))).endsWith(", schema public");
    }

    @Test
    @DisplayName("is what the connection was opened with, where only that leads to tables")
    void changedToNothing() throws Exception {
        String url = TestDatabase.POSTGRES.newUrl();
        new TestSource(url).execute("CREATE SCHEMA empty");
        builder(url).open().close();
        for (String changed : List.of("empty", "nowhere", "''", "pg_temp")) {
            Changed source = new Changed(url, "SET search_path TO " + changed);
            assertThat(product(JdbcStore.builder(source))).as(changed).endsWith(", schema public");
        }
        assertThat(tables(url)).isEqualTo("1");
    }

    @Test
    @DisplayName("is what was set on the connection, where only that leads to tables: a pool may set it on all")
    void changedToTables() throws Exception {
        String url = TestDatabase.POSTGRES.newUrl();
        new TestSource(url).execute("CREATE SCHEMA app");
        Changed source = new Changed(url, "SET search_path TO app");
        assertDenied(
                () -> JdbcStore.builder(source).open(), "opened with the schema 'public'", "set to the schema 'app'");
        assertThat(tables(url)).isEqualTo("0");
        assertThat(product(JdbcStore.builder(source).schema("app"))).endsWith(", schema app");
        assertThat(product(JdbcStore.builder(source))).endsWith(", schema app");
        builder(url).open().close();
        assertDenied(() -> JdbcStore.builder(source).open(), "in two schemas", "'public'", "'app'");
    }

    @Test
    @DisplayName(
            "is found by what role, database and connection say, also where a table has its place in another schema")
    void settings() throws Exception {
        String url = TestDatabase.POSTGRES.newUrl();
        new TestSource(url).execute("CREATE SCHEMA one", "CREATE SCHEMA two");
        assertThat(product(builder(url + "&currentSchema=one"))).endsWith(", schema one");
        new TestSource(url)
                .execute("DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database()"
                        + " || ' SET search_path = two, one'; END $$");
        assertThat(product(builder(url))).endsWith(", schema one");
        assertThat(product(builder(url).tablePrefix("shop_"))).endsWith(", schema two");
        assertDenied(() -> builder(url + "&currentSchema=nowhere").open(), "has no current schema or database");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Upper", "a-b", "it's", "a\"b", "a.b", "back`tick", "q?m", "holdfast_x", "größe"})
    @DisplayName("may have any name, which is quoted as the database does")
    void anyName(String name) throws Exception {
        String url = TestDatabase.POSTGRES.newUrl();
        String quoted = "\"" + name.replace("\"", "\"\"") + "\"";
        new TestSource(url).execute("CREATE SCHEMA " + quoted, "CREATE SCHEMA \"upper\"");
        new TestSource(url)
                .execute("DO $do$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database()" + " || $a$ SET search_path = "
                        + quoted + "$a$; END $do$");
        useAll(builder(url), name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Upper", "a-b", "it's", "a\"b", "back`tick", "holdfast_x", "größe"})
    @DisplayName("may have any name on MariaDB, too")
    void anyDatabase(String name) throws Exception {
        String full = name + Grants.newUser();
        String quoted = "`" + full.replace("`", "``") + "`";
        String url = newDatabase(quoted);
        try {
            Changed source = new Changed(url.replaceFirst("(//[^/]*/)[^?]*", "$1"), "USE " + quoted);
            assertDenied(() -> JdbcStore.builder(source).open(), "opened with no schema", "'" + full + "'");
            assertDenied(
                    () -> JdbcStore.builder(source)
                            .initialize(JdbcStore.Initialize.NEVER)
                            .open(),
                    "are missing",
                    "'" + full + "'");
            copyTables(url, quoted);
            useAll(JdbcStore.builder(source), full);
        } finally {
            new TestSource(url).execute("DROP DATABASE " + quoted);
        }
    }

    /** Creates the tables as an administrator would by hand. */
    private static void copyTables(String url, String quoted) throws SQLException {
        builder(url).open().close();
        for (String table : List.of("session", "resource", "claim", "latch", "count", "annotation", "run", "meta")) {
            new TestSource(url).execute("CREATE TABLE " + quoted + ".holdfast_" + table + " LIKE holdfast_" + table);
        }
        new TestSource(url).execute("INSERT INTO " + quoted + ".holdfast_meta SELECT * FROM holdfast_meta");
    }

    private static void useAll(JdbcStore.Builder builder, String schema) throws Exception {
        try (JdbcStore store = builder.open();
                JdbcStore second =
                        builder.initialize(JdbcStore.Initialize.ALWAYS).open();
                Holdfast one = Holdfast.builder(store).build();
                Holdfast other = Holdfast.builder(second).build()) {
            assertThat(store.traits().product()).endsWith(", schema " + schema);
            assertThat(one.state().store()).endsWith(", schema " + schema);
            assertThat(Contention.of(List.of(one, other), 2, 5, "a", "b")).isEqualTo(20);
            assertThat(one.semaphore("s", 3).tryAcquire(2)).isPresent();
            assertThat(other.latch("l").trySetCount(1)).isTrue();
            assertThat(one.inspect("s")).isPresent();
            assertThat(store.housekeeping().run(IdlePolicy.ofMicros(-TimeUnit.SECONDS.toMicros(10))))
                    .isTrue();
        }
    }

    @Test
    @DisplayName("is asked for where a URL of MariaDB names no database, before anything is made")
    void noDatabase() throws Exception {
        String name = "db_" + Grants.newUser();
        String url = newDatabase(name);
        try {
            String without = url.replaceFirst("(//[^/]*/)[^?]*", "$1");
            assertDenied(() -> builder(without).open(), "has no current schema or database", "'schema' in the URI");
            assertDenied(
                    () -> builder(without)
                            .initialize(JdbcStore.Initialize.NEVER)
                            .open(),
                    "has no current schema or database");
            assertThat(product(builder(without).schema(name))).endsWith(", schema " + name);
        } finally {
            new TestSource(url).execute("DROP DATABASE " + name);
        }
    }

    @Test
    @DisplayName("is that of the URL on MariaDB, where only that leads to tables")
    void changedDatabase() throws Exception {
        String name = "db_" + Grants.newUser();
        String url = newDatabase(name);
        try {
            Changed source = new Changed(url, "USE " + name);
            assertDenied(() -> JdbcStore.builder(source).open(), "opened with", "set to the schema '" + name + "'");
            builder(url).open().close();
            assertThat(product(JdbcStore.builder(source))).isEqualTo(product(builder(url)));
            builder(url).schema(name).open().close();
            assertDenied(() -> JdbcStore.builder(source).open(), "in two schemas", "'" + name + "'");
        } finally {
            new TestSource(url).execute("DROP DATABASE " + name);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is named by every statement on a table")
    void inEveryStatement(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        useAll(JdbcStore.builder(log), database == TestDatabase.POSTGRES ? "public" : catalog(log));
        assertThat(log.said())
                .hasSizeGreaterThan(50)
                .filteredOn(text -> text.contains("holdfast_"))
                .allMatch(text ->
                        text.replaceAll("(@|INDEX IF NOT EXISTS |INDEX |[\"`]\\.)holdfast_|holdfast_[a-z]+'", "")
                                        .indexOf("holdfast_")
                                < 0);
    }

    private static String catalog(TestSource source) throws SQLException {
        return source.text("SELECT DATABASE()");
    }
}
