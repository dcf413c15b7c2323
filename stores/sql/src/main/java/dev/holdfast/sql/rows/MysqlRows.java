package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Rows of MySQL, where the bound of a wait is a setting of the session, in whole seconds: waits are rounded up to
 * those. It is set back whatever happens.
 */
final class MysqlRows extends MariaDbRows {

    static final MysqlRows INSTANCE = new MysqlRows();

    private static final long LONGEST_SECONDS = 1_073_741_824;

    /** Enough for the names of a program, and little memory. */
    private static final int MOST_KNOWN = 10_000;

    /**
     * Rows that were there when they were last used. To insert is the only way to find out that a row is not there
     * without harm, and it waits for whoever has the row locked, for a second at least: once for each name.
     */
    private final Set<String> made = Collections.newSetFromMap(Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MOST_KNOWN;
        }
    }));

    private MysqlRows() {}

    @Override
    String product() {
        return "MySQL";
    }

    @Override
    <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        String query = "SELECT " + row.columns() + " FROM " + quoted(row.table()) + " WHERE name = ? FOR UPDATE";
        String key = row.table() + " " + row.name().value();
        return waiting(connection, wait, nowait -> {
            // Only what is there: under REPEATABLE READ to look for a row that is not locks the gap, in which two who
            // have looked can't insert any more, and one of their transactions is undone.
            T had = wait.isZero() && made.contains(key) ? first(connection, query + nowait, row.key(), reading) : null;
            if (had == null) {
                int changed = update(connection, insert(row), row.name().utf8());
                assert changed >= 0;
                had = only(connection, query, row.key(), reading);
                made.add(key);
            }
            return had;
        });
    }

    @Override
    boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy {
        String query = lockingQuery(row);
        List<Object> key = new ArrayList<>(row.key().values());
        return waiting(connection, wait, nowait -> exists(connection, query + nowait, key));
    }

    /** What is told the statement stands after it. */
    @Override
    <T> T waiting(Connection connection, Duration wait, Waiting<T> statement) throws SQLException, Busy {
        long seconds = (millis(wait, LONGEST_SECONDS * 1_000) + 999) / 1_000;
        Long before = first(connection, "SELECT @@SESSION.innodb_lock_wait_timeout", List.of(), row -> row.getLong(1));
        String set = "SET SESSION innodb_lock_wait_timeout = ";
        try {
            return under(connection, set + seconds, set + before, () -> statement.run(wait.isZero() ? " NOWAIT" : ""));
        } catch (SQLException e) {
            if (kindOf(e) != FailureKind.LOCK_WAIT) {
                throw e;
            }
            throw busy(connection, e);
        }
    }
}
