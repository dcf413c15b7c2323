package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.store.ledger.table.SqlTemplate;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Makes clients send every command while the database grows, and checks the cost of each statement: on small tables;
 * then, with the statements prepared there, on large ones without statistics; and on large ones that the server has
 * analysed.
 */
final class PlanRules {

    /** The workload sends at most sixteen names together, each of which is read a few times. */
    private static final int MOST_ROWS = 100;

    /** Housekeeping processes a hundred names together, reads each a few times, and may join them with all sessions. */
    private static final int MOST_ROWS_OF_A_PAGE = 500 + SqlTables.CLAIMS;

    /** Enough that each statement is used more than ten times, so that the server has cached its plan. */
    private static final int ROUNDS = 8;

    private static final int LEAST_STATEMENTS = 20;
    private static final int SHOWN = 5;

    /**
     * Statements that may read a whole table: for people, at most once in a ttl, when a session ends, and for
     * housekeeping.
     */
    private static final Set<SqlTemplate> SCANS = Set.of(
            SqlTemplate.CONTENDED,
            SqlTemplate.IN_USE,
            SqlTemplate.INLINE,
            SqlTemplate.LEFT_ANNOTATIONS,
            SqlTemplate.NAMES,
            SqlTemplate.OLD_RUNS,
            SqlTemplate.SESSIONS_OVER,
            SqlTemplate.SESSIONS_UNUSED,
            SqlTemplate.UNCOUNTED,
            SqlTemplate.WAITED);

    private final String url;
    private final Map<SqlTemplate, String> templates;
    private final StatementCosts costs;
    private final Predicate<StatementCost> isExcused;
    private final List<StatementCost> all = new ArrayList<>();

    /**
     * Creates the rules.
     *
     * @param texts the statements that differ on this database
     * @param isExcused statements that may read more rows without statistics
     */
    PlanRules(
            String url, Map<SqlTemplate, String> templates, StatementCosts costs, Predicate<StatementCost> isExcused) {
        this.url = url;
        this.templates = templates;
        this.costs = costs;
        this.isExcused = isExcused;
    }

    /** Returns the costs of all statements, on tables of all sizes. */
    @CanIgnoreReturnValue
    List<StatementCost> check(JdbcStore.Builder builder) throws SQLException {
        SqlTables tables = new SqlTables(url);
        try (JdbcStore store = builder.open()) {
            SqlWorkload work = new SqlWorkload(store, tables);
            costs.next();
            for (int i = 0; i < ROUNDS; i++) {
                work.locks();
            }
            readsFew(MOST_ROWS, isExcused);
            tables.fill();
            costs.next();
            large(store, tables, work, isExcused);
            tables.analyze();
            costs.next();
            large(store, tables, work, cost -> false);
        }
        return all;
    }

    private void large(JdbcStore store, SqlTables tables, SqlWorkload work, Predicate<StatementCost> excused)
            throws SQLException {
        for (int i = 0; i < ROUNDS / 2; i++) {
            work.locks();
            work.inLongQueue();
        }
        readsFew(MOST_ROWS, excused);
        work.reports();
        work.end();
        readsFew(MOST_ROWS, cost -> excused.test(cost) || isScan(cost));
        assertThat(store.housekeeping().runIfDue() || store.housekeeping().run(IdlePolicy.USUAL))
                .isTrue();
        readsFew(MOST_ROWS_OF_A_PAGE, this::isScan);
    }

    private void readsFew(int most, Predicate<StatementCost> excused) throws SQLException {
        List<StatementCost> some = costs.next();
        assertThat(some).as("A server that tells of its statements").hasSizeGreaterThan(LEAST_STATEMENTS);
        all.addAll(some);
        assertThat(some.stream()
                        .filter(excused.negate())
                        .filter(cost -> cost.rows() > most)
                        .limit(SHOWN))
                .as("Statements that read more than %s rows", most)
                .isEmpty();
    }

    private boolean isScan(StatementCost cost) {
        return SCANS.stream().anyMatch(sql -> cost.isOf(templates.getOrDefault(sql, sql.text)));
    }
}
