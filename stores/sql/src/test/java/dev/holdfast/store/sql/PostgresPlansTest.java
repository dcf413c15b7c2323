package dev.holdfast.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.servers.PostgresServer;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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

    /** From this version on, a step that is switched off does not count as dear when there is no other. */
    private static final int COUNTS_SWITCHED_OFF = 18;

    /**
     * Before that, on connections of our own, these are taken to cost 10,000,000,000, and so compiled, which takes a
     * tenth of a second: they read a table of one row that has no index for them, or all sessions. The first one is the first
     * use of a name, the rest is housekeeping, once a minute.
     */
    private static final Set<String> TAKEN_FOR_DEAR = new TreeSet<>(Set.of(
            "INSERT INTO holdfast_resource",
            "SELECT id FROM holdfast_session WHERE deadline > 0",
            "SELECT token_floor FROM holdfast_meta",
            "UPDATE holdfast_meta SET token_floor",
            "UPDATE holdfast_meta SET purged"));

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
        List<StatementCost> costs = new PlanRules(url, PostgresProduct.TEXTS, new PostgresCosts(server), cost -> false)
                .check(JdbcStore.builder(new TestSource(url)).keepsConnections());
        assertThat(costs.stream()
                        .filter(PostgresPlansTest::scansGrowing)
                        .filter(cost -> !cost.isOf(Sql.SESSIONS_OVER.text)))
                .as("Scans of tables that grow")
                .isEmpty();
        assertThat(dear(costs)).isEqualTo(version() < COUNTS_SWITCHED_OFF ? TAKEN_FOR_DEAR : Set.of());
    }

    /**
     * There the server is free to choose. What it has prepared for small tables it keeps until they are analyzed, by
     * its autovacuum for one; until then, what is asked for together may read all of a table that has grown meanwhile.
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
                            PostgresProduct.TEXTS,
                            new PostgresCosts(server),
                            PostgresPlansTest::scansGrowing)
                    .check(JdbcStore.builder(pool));
            assertThat(dear(costs)).isEmpty();
        }
    }

    private static boolean scansGrowing(StatementCost cost) {
        return cost.scanned().stream().anyMatch(GROWING::contains);
    }

    /** How those begin that the server takes for so dear that it compiles them, if it was built with a compiler. */
    private static Set<String> dear(List<StatementCost> costs) throws SQLException {
        TestSource source = new TestSource(server.url());
        double least = Double.parseDouble(source.text("SHOW jit_above_cost"));
        assertThat(source.text("SHOW jit")).isEqualTo("on");
        boolean hasCompiler = source.text("SELECT pg_jit_available()").equals("t");
        assertThat(costs.stream().filter(cost -> cost.isCompiled() != (hasCompiler && cost.estimate() > least)))
                .as("Compiled if and only if taken for dear, and there is a compiler: %s", hasCompiler)
                .isEmpty();
        return costs.stream()
                .filter(cost -> cost.estimate() > least)
                .map(cost -> TAKEN_FOR_DEAR.stream()
                        .filter(cost.text()::startsWith)
                        .findFirst()
                        .orElse(cost.toString()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static int version() throws SQLException {
        return Integer.parseInt(new TestSource(server.url()).text("SHOW server_version_num")) / 10_000;
    }
}
