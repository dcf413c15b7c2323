package dev.holdfast.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.Product;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The plans of MariaDB and MySQL")
@Tag("mysql")
@Tag("oldest")
class MysqlPlansTest {

    private static LocalSqlServer server;

    @BeforeAll
    static void start() {
        server = MysqlCosts.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Test
    @DisplayName("on connections of the store's own, read few rows of large tables")
    void onOwnConnections() throws SQLException {
        String url = server.newDatabase();
        check(url, JdbcStore.builder(new TestSource(url)).keepsConnections());
    }

    @Test
    @DisplayName("on connections of a pool, read few rows of large tables")
    void onConnectionsOfAPool() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.newDatabase());
        config.setMaximumPoolSize(2);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            check(config.getJdbcUrl(), JdbcStore.builder(pool));
        }
    }

    private static void check(String url, JdbcStore.Builder builder) throws SQLException {
        new PlanRules(url, Product.TEXTS, new MysqlCosts(server, url), cost -> false).check(builder);
    }
}
