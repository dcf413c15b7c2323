package dev.holdfast.store.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of MySQL, where the bound of a wait is a setting of the session, in whole seconds: waits are rounded up to those. It is
 * set back whatever happens.
 */
final class MysqlRows extends MariaDbRows {

    static final MysqlRows INSTANCE = new MysqlRows();

    private static final long LONGEST_SECONDS = 1_073_741_824;

    private MysqlRows() {}

    @Override
    String product() {
        return "MySQL";
    }

    @Override
    <T> T lockOwn(Connection connection, OwnRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        String query = "SELECT " + row.columns() + " FROM " + quoted(row.table()) + " WHERE name = ? FOR UPDATE";
        return waiting(connection, wait, nowait -> {
            // A new row can't be made without waiting for one who makes the same; that is at most a second, once.
            T had = wait.isZero() ? first(connection, query + nowait, row.key(), reading) : null;
            if (had == null) {
                int made = update(connection, insert(row), row.name().utf8());
                assert made >= 0;
                had = only(connection, query, row.key(), reading);
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
