package dev.holdfast.sql.rows;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Locks that live and die with a database transaction of yours, and so can neither outlive what they protect nor be
 * outlived by it: the one kind of lock that needs no token, for what is written in the same transaction to the same
 * database, and for nothing else.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * rowLocks.lock(connection, "invoice-run", Duration.ofSeconds(2));
 * writeInvoices(connection);
 * connection.commit(); // and the lock is free
 * }</pre>
 *
 * <p>A lock is a row that is locked: one of our table under a name, or one of a table of yours. It lasts until the
 * transaction is committed or rolled back, or until the connection ends; one transaction locks it as often as it likes.
 * On SQLite, where one transaction writes at a time, each lock locks the whole file.
 *
 * <p><b>What is seen.</b> On PostgreSQL under READ COMMITTED, statements after the lock see all that the holder before
 * has committed. Under REPEATABLE READ and SERIALIZABLE a transaction sees what there was at its beginning; if the last
 * holder of a
 * <em>named</em> lock came after that, {@link TransactionConflictException} says so. On MariaDB and MySQL under
 * REPEATABLE READ (their default) a transaction sees what there was at its first plain query: lock before that.
 *
 * <p><b>Order.</b> None is promised; who comes may overtake who waits. Whoever locks several takes them in one order,
 * or may meet a {@link TransactionConflictException}.
 *
 * <p>Works with any connection, also from pools and proxies, and leaves nothing behind in its session. Immutable; may
 * be used from any thread, as long as each connection is used by one at a time.
 */
public final class RowLocks {

    private final RowTables tables;

    private RowLocks(RowTables tables) {
        this.tables = tables;
    }

    /** Locks with the tables that are usual. */
    public static RowLocks usual() {
        return in(RowTables.usual());
    }

    /** Locks whose names are in these tables. */
    public static RowLocks in(RowTables tables) {
        return new RowLocks(tables);
    }

    /**
     * Locks a name until the end of the transaction.
     *
     * <p><b>Blocking:</b> until the row is locked, at most for {@code maxWait}, for as long as the database answers.
     * The bound is one on rows: where somebody changes a whole table, PostgreSQL waits for that as with every
     * statement. On MySQL it is rounded up to whole seconds. <b>Interruption:</b> has no effect.
     *
     * @param connection one that is in a transaction
     * @param name 1 to 512 bytes of UTF-8, compared byte for byte; it stays in the table until {@link #purge}
     * @param maxWait zero for not at all
     * @throws RowLockTimeoutException if another transaction had it for all of that time; this transaction can go on
     * @throws TransactionConflictException if this transaction can't go on and has to be repeated
     * @throws IllegalStateException if the connection is in no transaction
     * @throws IllegalArgumentException if the name or the wait makes no sense, or the database is none that is known
     * @throws SQLException whatever else the database has to say; roll back
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
     * Locks a name until the end of the transaction if nobody has it, and otherwise as {@link #lock(Connection, String,
     * Duration)}.
     *
     * <p><b>Blocking:</b> on MySQL for up to two seconds, if somebody has a name whose row this program has not found
     * in the table before.
     *
     * @return whether it is locked; on MySQL also false if the row was deleted since this program used it, other than
     *     by its own {@link #purge}: the next transaction makes it
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
     * Locks a row of a table of yours until the end of the transaction, as {@code SELECT … FOR UPDATE} does, and
     * otherwise as {@link #lock(Connection, String, Duration)}.
     *
     * @throws NoSuchRowException if there is none, also because it was deleted meanwhile
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
     * Locks a row of a table of yours until the end of the transaction if nobody has it.
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
     * Deletes the rows of names that nobody has locked, in a transaction of yours. They are made again when they are
     * used. Needs the right to delete.
     *
     * @param atMost how many in this transaction
     * @return how many
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
            throw new IllegalArgumentException("A wait is zero or longer, but was " + DurationFormat.format(wait));
        }
        RowDialect.requireTransaction(connection);
        return RowDialect.of(connection);
    }

    static RowLockTimeoutException timeout(String row, RowDialect dialect, Duration wait, RowDialect.Busy busy) {
        return new RowLockTimeoutException(row, dialect.product(), wait, busy.getCause());
    }
}
