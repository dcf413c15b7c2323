package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.mysql.MysqlProduct;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.jdbc.server.Product;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A failure of a database")
class FailureKindTest {

    private static final Product MYSQL = new MysqlProduct(MysqlVariant.of("MySQL", "8.0"), MysqlProduct.CLOCK);
    private static final Product POSTGRES = new PostgresProduct("PostgreSQL 18", PostgresProduct.CLOCK, "x", true);

    @ParameterizedTest
    @CsvSource({
        "1044, 42000, FORBIDDEN, DENIED",
        "1142, 42000, FORBIDDEN, DENIED",
        "1203, 42000, TOO_MANY, UNAVAILABLE",
        "1226, 42000, TOO_MANY, UNAVAILABLE",
        "1040, 08004, TOO_MANY, UNAVAILABLE",
        "1049, 42000, NO_DATABASE, DENIED",
        "1102, 42000, NO_DATABASE, DENIED",
        "1064, 42000, REJECTED, DENIED",
        "1045, 28000, LOGIN, DENIED",
        "1205, HY000, LOCK_WAIT, UNAVAILABLE",
        "1213, 40001, DEADLOCK, UNAVAILABLE",
        "1020, HY000, CONFLICT, UNAVAILABLE",
        "1290, HY000, READ_ONLY, DENIED",
        "1665, HY000, LOGS_STATEMENTS, DENIED",
        "1927, 70100, DISCONNECTED, UNAVAILABLE",
        "0, 08006, DISCONNECTED, UNAVAILABLE",
        "9999, HY000, OTHER, UNAVAILABLE",
    })
    @DisplayName("of MySQL or MariaDB is told by its code, as one state means many things")
    void byCode(int code, String state, FailureKind kind, Reason reason) {
        check(MYSQL, new SQLException("why", state, code), kind, reason);
    }

    @ParameterizedTest
    @CsvSource({
        "42501, FORBIDDEN, DENIED",
        "28P01, LOGIN, DENIED",
        "3D000, NO_DATABASE, DENIED",
        "42P01, NO_TABLE, DENIED",
        "53100, NO_ROOM, DENIED",
        "53300, TOO_MANY, UNAVAILABLE",
        "26000, POOLED, DENIED",
        "25006, READ_ONLY, DENIED",
        "40001, CONFLICT, UNAVAILABLE",
        "40P01, DEADLOCK, UNAVAILABLE",
        "55P03, LOCK_WAIT, UNAVAILABLE",
        "57P01, DISCONNECTED, UNAVAILABLE",
        "08006, DISCONNECTED, UNAVAILABLE",
        "XX001, DAMAGED, CORRUPT",
        "XX002, DAMAGED, CORRUPT",
        "XX000, OTHER, UNAVAILABLE",
        "22012, OTHER, UNAVAILABLE",
    })
    @DisplayName("of PostgreSQL is told by its state")
    void byState(String state, FailureKind kind, Reason reason) {
        check(POSTGRES, new SQLException("why", state), kind, reason);
    }

    private static void check(Product product, SQLException failure, FailureKind kind, Reason reason) {
        assertThat(product.kind(failure)).isEqualTo(kind);
        StoreException exception = product.translated(failure, Effect.UNKNOWN);
        assertThat(exception.reason()).isEqualTo(reason);
        assertThat(exception.effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(exception).hasCause(failure).hasMessageContaining(product.title() + ": why");
        // A pool wraps it in its own exception.
        assertThat(FailureKind.whileConnecting(new SQLException("no connection", failure)))
                .isEqualTo(kind);
        SQLException batch = new BatchUpdateException("a batch", new int[0]);
        batch.setNextException(failure);
        failure.initCause(batch); // a driver that links in both directions
        assertThat(product.kind(batch)).isEqualTo(kind);
    }

    @Test
    @Tag("server")
    @Tag("mysql")
    @DisplayName("of a user with too many connections is no missing permission")
    void tooManyConnections() throws SQLException {
        try (LocalSqlServer server = MariaDbOrMysql.start()) {
            String url = server.newDatabase();
            String user = Grants.newUser();
            Grants.run(
                    url,
                    List.of(
                            "CREATE USER " + user + " IDENTIFIED BY 'change-me' WITH MAX_USER_CONNECTIONS 1",
                            "GRANT ALL ON *.* TO " + user));
            try (Connection only = new TestSource(Grants.asUser(url, user)).getConnection()) {
                assertThat(only.isValid(0)).isTrue();
                SQLException refused = assertThrows(
                        SQLException.class, () -> new TestSource(Grants.asUser(url, user)).getConnection());
                assertThat(MYSQL.kind(refused)).isEqualTo(FailureKind.TOO_MANY);
            }
        }
    }
}
