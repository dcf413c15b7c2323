package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.store.ledger.table.SqlTemplate;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The cost of a command's statements must not depend on the number of locks or the length of queues. */
class SqlTemplateTest {

    /** Statements for people, audits and housekeeping, in pages. */
    private static final Set<SqlTemplate> SCANS = Set.of(
            SqlTemplate.IN_USE,
            SqlTemplate.INLINE,
            SqlTemplate.LEFT_ANNOTATIONS,
            SqlTemplate.OLD_RUNS,
            SqlTemplate.RESTING,
            SqlTemplate.SESSIONS_OVER,
            SqlTemplate.SESSIONS_UNUSED);

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void make() {
        file = directory.resolve("locks.db");
        SqliteStore.open(file).close();
    }

    @ParameterizedTest
    @EnumSource(SqlTemplate.class)
    void findsItsRowsByAnIndex(SqlTemplate sql) throws SQLException {
        List<String> plan = new ArrayList<>();
        try (Connection connection = Database.open(file);
                PreparedStatement explain = connection.prepareStatement("EXPLAIN QUERY PLAN " + sql.text);
                ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                plan.add(row.getString("detail"));
            }
        }

        assertThat(plan).noneMatch(step -> step.contains("TEMP B-TREE FOR ORDER BY"));
        if (!SCANS.contains(sql)) {
            assertThat(plan).noneMatch(step -> step.startsWith("SCAN"));
        }
    }
}
