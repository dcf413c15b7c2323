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
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/*
 * A try must not wait for a transaction that has locked the row. Inserting the row waits, for at least a second.
 * Locking it with a query does not wait, but if the row is missing, the query locks the gap in its place until the end
 * of the transaction, under REPEATABLE READ. Two transactions that have locked a gap and then insert into it deadlock,
 * and the server rolls back one of them.
 *
 * So a try queries only for a row that was found in this table of this server before, and that this program has not
 * purged since. Such a row may still be missing: another program may have purged or deleted it, or a replica without it
 * has become the primary. The transaction has locked the gap then, and inserts no more rows: names without a row count
 * as locked by others until it ends, and the next transaction inserts them. A savepoint, which ends with the
 * transaction, marks this state.
 */

/**
 * Rows on MySQL, where the limit of a wait is a session setting in whole seconds: waits are rounded up. It is always
 * restored. Thread-safe.
 */
final class MysqlRows extends MariaDbRows {

    static final MysqlRows INSTANCE = new MysqlRows();

    private static final long LONGEST_SECONDS = 1_073_741_824;

    /** Enough for the names of a program, with little memory. */
    private static final int MOST_KNOWN = 10_000;

    private static final int NOWAIT_FAILED = 3572;
    private static final int NO_SUCH_SAVEPOINT = 1305;
    private static final String SAVEPOINT = "holdfast_gap";

    /** The variables that identify a server; MariaDB, which tests use, has no uuid. */
    private static final String IDENTITY =
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN" + " ('hostname', 'port', 'server_id', 'server_uuid')";

    /** A row of one of our tables, on one server. */
    private record Row(String server, String database, String table, String name) {}

    /** The session's setting and database. */
    private record Session(long lockWaitSeconds, @Nullable String database) {}

    /** Rows that existed when they were last used; only a hint. */
    private final Set<Row> found = Collections.newSetFromMap(Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Row, Boolean> eldest) {
            return size() > MOST_KNOWN;
        }
    }));

    /** The server of each physical connection. */
    private final Map<Connection, String> servers = Collections.synchronizedMap(new WeakHashMap<>());

    /** Physical connections on which a transaction may have locked a gap. */
    private final Set<Connection> withGap = Collections.newSetFromMap(Collections.synchronizedMap(new WeakHashMap<>()));

    private MysqlRows() {}

    @Override
    String product() {
        return "MySQL";
    }

    @Override
    <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        String query = "SELECT " + row.columns() + " FROM " + quoted(row.table()) + " WHERE name = ? FOR UPDATE";
        String server = serverOf(connection);
        return waiting(connection, wait, (nowait, session) -> {
            Row key = new Row(
                    server,
                    String.valueOf(session.database()),
                    row.table(),
                    row.name().value());
            if (wait.isZero() && found.contains(key)) {
                T had = first(connection, query + nowait, row.key(), reading);
                if (had != null) {
                    return had;
                }
                found.remove(key);
                markGap(connection);
            }
            if (hasGap(connection)) {
                throw new SQLException(
                        "the row has disappeared, and this transaction, which has already searched "
                                + "for it, can't create it; repeat the transaction",
                        "HY000",
                        NOWAIT_FAILED);
            }
            int changed = update(connection, insert(row), row.name().utf8());
            T had = only(connection, query, row.key(), reading);
            // A row that this transaction inserts disappears if it rolls back. One that is only touched may count as
            // inserted.
            if (changed != 1 || row.touch().isEmpty()) {
                found.add(key);
            }
            return had;
        });
    }

    private void markGap(Connection connection) throws SQLException {
        execute(connection, "SAVEPOINT " + SAVEPOINT);
        withGap.add(connection.unwrap(Connection.class));
    }

    /** Whether the active transaction has locked a gap. */
    private boolean hasGap(Connection connection) throws SQLException {
        if (withGap.isEmpty() || !withGap.contains(connection.unwrap(Connection.class))) {
            return false;
        }
        try {
            execute(connection, "RELEASE SAVEPOINT " + SAVEPOINT);
        } catch (SQLException e) {
            if (e.getErrorCode() != NO_SUCH_SAVEPOINT) {
                throw e;
            }
            withGap.remove(connection.unwrap(Connection.class));
            return false;
        }
        execute(connection, "SAVEPOINT " + SAVEPOINT);
        return true;
    }

    private String serverOf(Connection connection) throws SQLException {
        Connection physical = connection.unwrap(Connection.class);
        String known = servers.get(physical);
        if (known != null) {
            return known;
        }
        String asked = String.join(
                " ", all(connection, IDENTITY, variable -> variable.getString(1) + "=" + variable.getString(2)));
        servers.put(physical, asked);
        return asked;
    }

    @Override
    int deleteUnlocked(Connection connection, String table, int atMost) throws SQLException {
        String server = serverOf(connection);
        // Before, because others may insert the names again once this is committed, and after, because they may use
        // them until then.
        forget(server, table);
        int deleted = super.deleteUnlocked(connection, table, atMost);
        forget(server, table);
        return deleted;
    }

    private void forget(String server, String table) {
        found.removeIf(row -> row.server().equals(server) && row.table().equals(table));
    }

    @Override
    boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy {
        String query = lockingQuery(row);
        List<Object> key = new ArrayList<>(row.key().values());
        return waiting(connection, wait, (nowait, session) -> exists(connection, query + nowait, key));
    }

    /** A statement that may wait for a lock, with the suffix that it needs. */
    private interface InSession<T> {
        T run(String nowait, Session session) throws SQLException;
    }

    private <T> T waiting(Connection connection, Duration wait, InSession<T> statement) throws SQLException, Busy {
        long seconds = (millis(wait, LONGEST_SECONDS * 1_000) + 999) / 1_000;
        Session before = only(
                connection,
                "SELECT @@SESSION.innodb_lock_wait_timeout, DATABASE()",
                List.of(),
                row -> new Session(row.getLong(1), row.getString(2)));
        String set = "SET SESSION innodb_lock_wait_timeout = ";
        try {
            return under(
                    connection,
                    set + seconds,
                    set + before.lockWaitSeconds(),
                    () -> statement.run(wait.isZero() ? " NOWAIT" : "", before));
        } catch (SQLException e) {
            if (kindOf(e) != FailureKind.LOCK_WAIT) {
                throw e;
            }
            throw busy(connection, e);
        }
    }
}
