package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class SqlServerTest {

    @Nested
    class Postgres extends Any {
        Postgres() {
            super(PostgresServer::start, PostgresServer::shared);
        }

        @Test
        void takesParametersAndTellsStatementsThatFailed() throws SQLException {
            try (PostgresServer server = PostgresServer.builder()
                    .option("default_transaction_isolation", "serializable")
                    .start()) {
                assertThat(text(server, "SHOW transaction_isolation")).isEqualTo("serializable");
                assertThat(server.errors()).isEmpty();
                assertThatThrownBy(() -> server.execute("SELECT nonsense")).hasMessageContaining("nonsense");
                assertThat(server.errors()).singleElement().asString().contains("nonsense");
            }
        }

        @Test
        void flushesWhatIsCommittedIfToldTo() throws SQLException {
            assertThat(text(PostgresServer.shared(), "SHOW fsync")).isEqualTo("off");
            try (PostgresServer server = PostgresServer.builder().asItComes().start()) {
                assertThat(text(server, "SHOW fsync")).isEqualTo("on");
                assertThat(text(server, "SHOW synchronous_commit")).isEqualTo("on");
                assertThat(text(server, "SHOW wal_segment_size")).isEqualTo("16MB");
            }
        }

        @Test
        void isOfTheVersionThatTheBuildNames() throws SQLException {
            assumeTrue(LocalBinaries.at(PostgresServer.HOME_PROPERTY, PostgresServer.HOME_VARIABLE)
                    .isEmpty());
            String wanted = System.getProperty("postgres.binaries.version");
            assertThat(wanted).isNotNull().startsWith(text(PostgresServer.shared(), "SHOW server_version") + ".");
        }

        @Test
        void saysWhyItDoesntStart() {
            assertThatThrownBy(() ->
                            PostgresServer.builder().option("fsync", "perhaps").start())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("fsync");
        }
    }

    @Nested
    class MariaDb extends Any {
        MariaDb() {
            super(MariaDbServer::start, MariaDbServer::shared);
        }

        @Test
        void flushesWhatIsCommittedIfToldTo() throws SQLException {
            String flushes = "SELECT @@innodb_flush_log_at_trx_commit";
            assertThat(text(MariaDbServer.shared(), flushes)).isEqualTo("2");
            try (MariaDbServer server = MariaDbServer.builder().asItComes().start()) {
                assertThat(text(server, flushes)).isEqualTo("1");
                assertThat(text(server, "SELECT @@innodb_log_file_size DIV 1048576"))
                        .isEqualTo("96");
            }
        }

        @Test
        void takesSystemVariables() throws SQLException {
            try (MariaDbServer server = MariaDbServer.builder()
                    .option("transaction-isolation", "SERIALIZABLE")
                    .start()) {
                assertThat(text(server, "SELECT @@tx_isolation")).isEqualTo("SERIALIZABLE");
                assertThat(server.errors()).isEmpty();
            }
        }

        @Test
        void isOfTheVersionThatTheBuildNames() throws SQLException {
            assumeTrue(LocalBinaries.at(MariaDbServer.HOME_PROPERTY, MariaDbServer.HOME_VARIABLE)
                    .isEmpty());
            String wanted = System.getProperty("mariadb.binaries.version");
            assertThat(wanted).isNotNull();
            assertThat(text(MariaDbServer.shared(), "SELECT VERSION()")).startsWith(wanted);
        }

        @Test
        void saysWhyItDoesntStart() {
            assertThatThrownBy(() ->
                            MariaDbServer.builder().option("no-such-thing", "1").start())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no-such-thing");
        }
    }

    abstract static class Any {

        private final Supplier<? extends LocalSqlServer> starter;

        private final Supplier<SqlServer> shared;

        Any(Supplier<? extends LocalSqlServer> starter, Supplier<SqlServer> shared) {
            this.starter = starter;
            this.shared = shared;
        }

        @Test
        void keepsWhatWasCommittedWhenItIsKilledAndStartedAgain() throws SQLException {
            try (LocalSqlServer server = starter.get()) {
                server.execute("CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)");
                Connection lost = server.connect();
                lost.setAutoCommit(false);
                lost.createStatement().execute("INSERT INTO t VALUES (2)");

                server.kill();
                assertThat(server.process().isAlive()).isFalse();
                assertThatThrownBy(lost::commit).isInstanceOf(SQLException.class);
                assertThatThrownBy(server::connect).isInstanceOf(SQLException.class);

                server.restart();
                assertThat(text(server, "SELECT SUM(a) FROM t")).isEqualTo("1");
            }
        }

        @Test
        void aPausedOneAnswersWhenItGoesOn() throws SQLException, IOException {
            try (LocalSqlServer server = starter.get();
                    Connection connection = server.connect();
                    Statement statement = connection.createStatement()) {
                server.process().pause();
                ProcessHandle process = server.process().handle();
                for (ProcessHandle each :
                        Stream.concat(Stream.of(process), process.descendants()).toList()) {
                    Path stat = Path.of("/proc", String.valueOf(each.pid()), "stat");
                    assertThat(Files.readString(stat).replaceFirst(".*\\) ", ""))
                            .startsWith("T");
                }
                CompletableFuture<Boolean> asked = CompletableFuture.supplyAsync(() -> {
                    try {
                        return statement.execute("SELECT 1");
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                });
                server.process().resume();
                assertThat(asked.join()).isTrue();
            }
        }

        @Test
        void aNewDatabaseIsEmpty() throws SQLException {
            shared.get().execute("CREATE TABLE IF NOT EXISTS t (a INT)");
            try (Connection other = DriverManager.getConnection(shared.get().newDatabase());
                    Statement statement = other.createStatement()) {
                assertThatThrownBy(() -> statement.execute("SELECT a FROM t")).isInstanceOf(SQLException.class);
            }
        }
    }

    private static String text(SqlServer server, String query) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
