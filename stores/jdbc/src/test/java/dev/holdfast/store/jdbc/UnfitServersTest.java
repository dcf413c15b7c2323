package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.MysqlServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("When a store is opened")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class UnfitServersTest {

    @Test
    @DisplayName("a binary log of statements, with which nothing could be written, is told")
    void binaryLogOfStatements() {
        try (LocalSqlServer server = MariaDbOrMysql.isMysql()
                ? MysqlServer.builder()
                        .option("log-bin", "log")
                        .option("server-id", "1")
                        .option("binlog-format", "STATEMENT")
                        .start()
                : MariaDbServer.builder()
                        .option("log-bin", "log")
                        .option("binlog-format", "STATEMENT")
                        .start()) {
            assertThatThrownBy(() -> JdbcStore.builder(new DriverDataSource(server.url()))
                            .open())
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.DENIED))
                    .hasMessageContaining("binlog_format to ROW or MIXED");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("a database that is not there is named")
    void noDatabase(TestDatabase database) {
        String url = database.newUrl().replaceFirst("/[^/?]*\\?", "/none?");
        assertThatThrownBy(() -> JdbcStore.builder(new DriverDataSource(url)).open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.DENIED))
                .hasMessageContaining("the database does not exist")
                .hasMessageContaining("none");
    }

    @Test
    @DisplayName("tables that can be neither made nor undone are not made in part, and the first failure is told")
    void notInPart() throws SQLException {
        String url = PostgresServer.shared().newDatabase();
        StatementLog breaking = new StatementLog(url) {
            @Override
            public Object call(Connection connection, String text, Call call) throws Throwable {
                if (text.equals("rollback") || text.matches("(?s).*INSERT INTO \\S+holdfast_meta.*")) {
                    throw new SQLException("no " + text.substring(0, 6));
                }
                return super.call(connection, text, call);
            }
        };
        assertThatThrownBy(() -> JdbcStore.builder(breaking).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("no INSERT");
        assertThat(new TestSource(url).text("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'holdfast%'"))
                .isEqualTo("0");
    }
}
