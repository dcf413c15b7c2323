package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.ledger.table.SqlTemplate;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The plans of PostgreSQL")
@Tag("postgres")
@Tag("oldest")
class PostgresPlansTest {

    /** The tables that grow with names, claims and sessions. */
    private static final Set<String> GROWING =
            Set.of("holdfast_session", "holdfast_resource", "holdfast_claim", "holdfast_latch", "holdfast_count");

    /** From this version on, a disabled plan node without an alternative does not count as expensive. */
    private static final int COUNTS_SWITCHED_OFF = 18;

    /**
     * Before that, on connections of our own, its estimated cost is 10,000,000,000: it reads all sessions, once a
     * minute. All other statements find their rows by keys.
     */
    private static final Set<String> TAKEN_FOR_DEAR = Set.of("SELECT id FROM holdfast_session WHERE deadline > 0");

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresCosts.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Test
    @DisplayName("on connections of the store's own, read rows by their keys, also on tables that were small before")
    void onOwnConnections() throws SQLException {
        String url = server.newDatabase();
        List<StatementCost> costs = new PlanRules(url, Product.TEXTS, new PostgresCosts(server), cost -> false)
                .check(JdbcStore.builder(new TestSource(url)).keepsConnections());
        assertThat(costs.stream()
                        .filter(cost -> !cost.scanned().isEmpty())
                        .filter(cost -> !cost.isOf(SqlTemplate.SESSIONS_OVER.text)))
                .as("Scans")
                .isEmpty();
        assertThat(costs.stream().filter(StatementCost::isCompiled))
                .as("Compiled statements")
                .isEmpty();
        assertThat(dear(costs)).isEqualTo(version() < COUNTS_SWITCHED_OFF ? TAKEN_FOR_DEAR : Set.of());
    }

    /**
     * There the server is free to choose. It keeps plans for small tables until these are analysed, for example by
     * autovacuum; until then, a batch may read the whole of a table that has grown meanwhile.
     */
    @Test
    @DisplayName("on connections of a pool, read few rows, once the server has looked at the tables")
    void onConnectionsOfAPool() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.newDatabase());
        config.setMaximumPoolSize(2);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            List<StatementCost> costs = new PlanRules(
                            config.getJdbcUrl(),
                            Product.TEXTS,
                            new PostgresCosts(server),
                            PostgresPlansTest::scansGrowing)
                    .check(JdbcStore.builder(pool));
            assertThat(dear(costs)).isEmpty();
            assertThat(costs.stream().filter(StatementCost::isCompiled)).isEmpty();
        }
    }

    private static boolean scansGrowing(StatementCost cost) {
        return cost.scanned().stream().anyMatch(GROWING::contains);
    }

    /** The beginnings of statements that the server would JIT-compile because of their estimated cost. */
    private static Set<String> dear(List<StatementCost> costs) throws SQLException {
        TestSource source = new TestSource(server.url());
        double least = Double.parseDouble(source.text("SHOW jit_above_cost"));
        assertThat(source.text("SHOW jit")).as("What the server does by itself").isEqualTo("on");
        return costs.stream()
                .filter(cost -> cost.estimate() > least)
                .map(cost -> TAKEN_FOR_DEAR.stream()
                        .filter(cost.text()::startsWith)
                        .findFirst()
                        .orElse(cost.toString()))
                .collect(Collectors.toSet());
    }

    private static int version() throws SQLException {
        return Integer.parseInt(new TestSource(server.url()).text("SHOW server_version_num")) / 10_000;
    }
}
