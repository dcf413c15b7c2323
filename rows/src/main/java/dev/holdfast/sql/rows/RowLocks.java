package dev.holdfast.sql.rows;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Locks that last exactly as long as a database transaction of yours, so that a write cannot outlive its lock. They are
 * the only kind of lock that needs no token, but only for what is written in the same transaction to the same database.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * rowLocks.lock(connection, "invoice-run", Duration.ofSeconds(2));
 * writeInvoices(connection);
 * connection.commit(); // and the lock is free
 * }</pre>
 *
 * <p>A lock is a locked row: a named one in our table, or one in a table of yours. It lasts until the transaction is
 * committed or rolled back, or the connection ends; a transaction may lock it repeatedly. On SQLite, where one
 * transaction writes at a time, each lock locks the whole file.
 *
 * <p><b>Visibility.</b> On PostgreSQL under READ COMMITTED, statements after the lock see everything that the previous
 * holder has committed. Under REPEATABLE READ and SERIALIZABLE a transaction sees the data at its beginning; if the
 * last holder of a <em>named</em> lock came after that, {@link TransactionConflictException} is thrown. On MariaDB and
 * MySQL under REPEATABLE READ (their default) a transaction sees the data at its first plain query, so lock before
 * that.
 *
 * <p><b>Order.</b> Locks are not fair: a new transaction may overtake waiting ones. Transactions that lock several
 * names must use one order, or one of them may get a {@link TransactionConflictException}.
 *
 * <p>Works with any connection, including those of pools and proxies, and leaves no trace in its session. Immutable;
 * may be used from any thread, if each connection is used by one at a time.
 */
public final class RowLocks {

    private final RowTables tables;

    private RowLocks(RowTables tables) {
        this.tables = tables;
    }

    /** Locks with the default tables. */
    public static RowLocks usual() {
        return in(RowTables.usual());
    }

    /** Locks with these tables. */
    public static RowLocks in(RowTables tables) {
        return new RowLocks(tables);
    }

    /**
     * Locks a name until the end of the transaction.
     *
     * <p><b>Blocking:</b> until the row is locked, at most for {@code maxWait} while the database answers. The limit is
     * on row locks: PostgreSQL waits for changes to a whole table as with every statement. On MySQL it is rounded up to
     * whole seconds. <b>Interruption:</b> has no effect.
     *
     * @param connection a connection in a transaction
     * @param name 1 to 512 bytes of UTF-8, compared byte for byte; it stays in the table until {@link #purge}
     * @param maxWait zero to not wait
     * @throws RowLockTimeoutException if another transaction had it for the whole time; this transaction can continue
     * @throws TransactionConflictException if this transaction cannot continue and must be repeated
     * @throws IllegalStateException if the connection is not in a transaction
     * @throws IllegalArgumentException if the name or the wait is invalid, or the database is not supported
     * @throws SQLException if the database fails otherwise; roll back
     */
    public void lock(Connection connection, String name, Duration maxWait) throws SQLException {
        RowDialect dialect = check(connection, maxWait);
        try {
            long uses = lockNamed(dialect, connection, name, maxWait);
            assert uses > 0;
        } catch (RowDialect.Busy e) {
            throw timeout(name, dialect, maxWait, e);
        }
    }

    /**
     * Locks a name until the end of the transaction if it is free. Otherwise as {@link #lock(Connection, String,
     * Duration)}.
     *
     * <p><b>Blocking:</b> on MySQL for up to two seconds, if another transaction has locked a name whose row this
     * program has not seen before.
     *
     * @return whether it is locked; on MySQL also false if the row was deleted since this program used it, except by
     *     its own {@link #purge}: the next transaction inserts it
     */
    public boolean tryLock(Connection connection, String name) throws SQLException {
        RowDialect dialect = check(connection, Duration.ZERO);
        try {
            return lockNamed(dialect, connection, name, Duration.ZERO) > 0;
        } catch (RowDialect.Busy e) {
            return false;
        }
    }

    /**
     * Locks a row of a table of yours until the end of the transaction, like {@code SELECT … FOR UPDATE}. Otherwise as
     * {@link #lock(Connection, String, Duration)}.
     *
     * @throws NoSuchRowException if there is none, even because it was deleted meanwhile
     */
    public void lock(Connection connection, TableRow row, Duration maxWait) throws SQLException {
        RowDialect dialect = check(connection, maxWait);
        try {
            lockTheirs(dialect, connection, row, maxWait);
        } catch (RowDialect.Busy e) {
            throw timeout(row.toString(), dialect, maxWait, e);
        }
    }

    /**
     * Locks a row of a table of yours until the end of the transaction if it is free.
     *
     * @return whether it is locked
     * @throws NoSuchRowException if there is none
     */
    public boolean tryLock(Connection connection, TableRow row) throws SQLException {
        RowDialect dialect = check(connection, Duration.ZERO);
        try {
            lockTheirs(dialect, connection, row, Duration.ZERO);
            return true;
        } catch (RowDialect.Busy e) {
            return false;
        }
    }

    /**
     * Deletes the rows of names that are not locked, in a transaction of yours. They are inserted again on use. Needs
     * the permission to delete.
     *
     * @param atMost the most rows to delete in this transaction
     * @return the number of deleted rows
     */
    public int purge(Connection connection, int atMost) throws SQLException {
        RowDialect dialect = check(connection, Duration.ZERO);
        try {
            return dialect.deleteUnlocked(connection, tables.rowLock(), atMost);
        } catch (SQLException e) {
            throw dialect.translated("the locks", e);
        }
    }

    private long lockNamed(RowDialect dialect, Connection connection, String name, Duration wait)
            throws SQLException, RowDialect.Busy {
        NamedRow row = NamedRow.lock(tables, new ResourceName(name));
        try {
            return dialect.lockOwn(connection, row, wait, found -> found.getLong(1));
        } catch (SQLException e) {
            throw dialect.translated("'" + name + "'", e);
        }
    }

    private static void lockTheirs(RowDialect dialect, Connection connection, TableRow row, Duration wait)
            throws SQLException, RowDialect.Busy {
        try {
            if (!dialect.lock(connection, row, wait)) {
                throw new NoSuchRowException(row.toString(), dialect.product());
            }
        } catch (SQLException e) {
            throw dialect.translated(row.toString(), e);
        }
    }

    static RowDialect check(Connection connection, Duration wait) throws SQLException {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("A wait must be zero or longer, but was " + DurationFormat.format(wait));
        }
        RowDialect.requireTransaction(connection);
        return RowDialect.of(connection);
    }

    static RowLockTimeoutException timeout(String row, RowDialect dialect, Duration wait, RowDialect.Busy busy) {
        return new RowLockTimeoutException(row, dialect.product(), wait, busy.getCause());
    }
}
