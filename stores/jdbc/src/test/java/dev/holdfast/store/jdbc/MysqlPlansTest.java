package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.Product;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The plans of MariaDB and MySQL")
@Tag("mysql")
@Tag("oldest")
class MysqlPlansTest {

    /** What MariaDB logs of the protocol itself. */
    private static final Set<String> PROTOCOL = Set.of("Prepare", "Close stmt", "Ping");

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

    @Test
    @DisplayName("a pair is two statements on a pool, too, with the isolation that the server comes with")
    void statementsOnAPool() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.newDatabase());
        config.setMaximumPoolSize(2);
        try (HikariDataSource pool = new HikariDataSource(config);
                Holdfast client =
                        Holdfast.builder(JdbcStore.builder(pool).open()).build()) {
            MysqlCosts costs = new MysqlCosts(server, config.getJdbcUrl());
            take(client, 5);
            assertThat(costs.next()).as("what is written down").isNotEmpty();
            take(client, 20);
            List<String> texts = new ArrayList<>();
            Awaitility.await("the last statement, which the server logs after its answer")
                    .atMost(1, TimeUnit.MINUTES)
                    .until(() -> {
                        costs.next().stream()
                                .map(StatementCost::text)
                                .filter(text -> !PROTOCOL.contains(text))
                                .forEach(texts::add);
                        return texts.size() >= 40;
                    });
            assertThat(texts).hasSizeLessThanOrEqualTo(50); // sessions are kept alive meanwhile
        }
    }

    private static void take(Holdfast client, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            client.lock("a").acquire().close();
        }
    }

    private static void check(String url, JdbcStore.Builder builder) throws SQLException {
        new PlanRules(url, Product.TEXTS, new MysqlCosts(server, url), cost -> false).check(builder);
    }
}
