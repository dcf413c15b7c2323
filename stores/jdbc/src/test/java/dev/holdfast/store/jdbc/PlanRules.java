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
 * Has clients send every command while a database grows around them, and checks what each statement costs: on small
 * tables; then, with the statements that were prepared there, on large ones of which the server has no statistics yet;
 * and on large ones that it has analyzed.
 */
final class PlanRules {

    /** Sixteen names are the most that the work here sends together, each of which is read a few times. */
    private static final int MOST_ROWS = 100;

    /** Housekeeping takes a hundred names together, reads each a few times, and may join them with all sessions. */
    private static final int MOST_ROWS_OF_A_PAGE = 500 + SqlTables.CLAIMS;

    /** So many that each statement is used more than ten times, and its server has made the plan that it keeps. */
    private static final int ROUNDS = 8;

    private static final int LEAST_STATEMENTS = 20;
    private static final int SHOWN = 5;

    /** What reads a whole table: for people, once in a ttl at the most, when a session ends, and for housekeeping. */
    private static final Set<SqlTemplate> SCANS = Set.of(
            SqlTemplate.CONTENDED,
            SqlTemplate.IN_USE,
            SqlTemplate.INLINE,
            SqlTemplate.NAMES,
            SqlTemplate.SESSIONS_OVER,
            SqlTemplate.SESSIONS_UNUSED,
            SqlTemplate.UNCOUNTED);

    private final String url;
    private final Map<SqlTemplate, String> templates;
    private final StatementCosts costs;
    private final Predicate<StatementCost> isExcused;
    private final List<StatementCost> all = new ArrayList<>();

    /**
     * Knows what is to be checked.
     *
     * @param texts what this database says in another way than others
     * @param isExcused what may read more than it should when statistics are lacking
     */
    PlanRules(
            String url, Map<SqlTemplate, String> templates, StatementCosts costs, Predicate<StatementCost> isExcused) {
        this.url = url;
        this.templates = templates;
        this.costs = costs;
        this.isExcused = isExcused;
    }

    /** Gives the costs of all statements, on tables of all sizes. */
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
