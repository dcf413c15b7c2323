package dev.holdfast.sql.rows;

import dev.holdfast.Hold;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Keeps holders that have outlived their lease from writing. A lease is exclusive only until its deadline, and code
 * that is paused past that can't be told; what it writes to can refuse it:
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * guard.check(connection, hold); // throws if a later holder has been here
 * writeReport(connection);
 * connection.commit();
 * }</pre>
 *
 * <p>The guard keeps, for each resource, the greatest fencing token that it was shown, and by which hold. It refuses a
 * smaller one, and an equal one of another hold, which a fail-over can make. That happens in your transaction, under a
 * lock on that row until its end: check and write are one, and writers of one resource follow one another. After the
 * check, no holder before this one can commit a guarded write; what it committed earlier is there to be read.
 *
 * <p>It protects what is written in the same transaction, to the database that the guard's table is in. Every writer
 * has to be guarded; call it before the first read of what is to be written. Tokens are no secrets: who may call this
 * is for you to decide, since a greater token, once shown, keeps all smaller ones out. {@link #withHighestToken} bounds
 * that.
 *
 * <p>Shares are not ordered among themselves: guard exclusive holds. Immutable; may be used from any thread, as long as
 * each connection is used by one at a time.
 */
public final class FenceGuard {

    private static final Duration USUAL_WAIT = Duration.ofSeconds(10);

    private final RowTables tables;
    private final Duration maxWait;
    private final long highest;

    private FenceGuard(RowTables tables, Duration maxWait, long highest) {
        this.tables = tables;
        this.maxWait = maxWait;
        this.highest = highest;
    }

    /** A guard with the tables that are usual. */
    public static FenceGuard usual() {
        return in(RowTables.usual());
    }

    /** A guard that keeps what it has seen in these tables. */
    public static FenceGuard in(RowTables tables) {
        return new FenceGuard(tables, USUAL_WAIT, Long.MAX_VALUE);
    }

    /**
     * The same with another bound on how long a check waits for one who writes under the same resource; 10 s if not
     * set.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public FenceGuard withMaxWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("A wait is zero or longer, but was " + DurationFormat.format(wait));
        }
        return new FenceGuard(tables, wait, highest);
    }

    /**
     * The same, which also refuses tokens above a bound, so that one that was made up can't keep everybody out for
     * ever. Where tokens follow the store's clock (SQL, Redis, SQLite) they are below
     * {@code (now in µs + a day) × 1.024} for as long as that clock is right within a day.
     */
    public FenceGuard withHighestToken(long bound) {
        return new FenceGuard(tables, maxWait, bound);
    }

    /**
     * Lets a holder write, in the caller's transaction: as {@link #check(Connection, String, long, String)} with the
     * name, the token and the id of the hold.
     *
     * @throws dev.holdfast.LockLostException if the hold is lost, before the database is asked
     */
    public void check(Connection connection, Hold hold) throws SQLException {
        check(connection, hold.name(), hold);
    }

    /** As {@link #check(Connection, Hold)}, where what is written to has another name than the lock. */
    public void check(Connection connection, String resource, Hold hold) throws SQLException {
        check(connection, resource, hold.fencingToken(), hold.holdId());
    }

    /**
     * Lets a holder write that is known by its token and its id, as where they came with a message.
     *
     * <p><b>Blocking:</b> while another transaction is under way that was let through for this resource, at most for
     * the bound of this guard. <b>Interruption:</b> has no effect.
     *
     * @param connection one that is in a transaction
     * @param resource 1 to 512 bytes of UTF-8, compared byte for byte
     * @param token the fencing token, positive
     * @param holdId what tells the hold from others with the same token: 1 to 300 printable ASCII characters
     * @throws StaleTokenException if a greater token was shown before, or the same by another hold; roll back
     * @throws RowLockTimeoutException if another transaction kept the row locked for all of the time; this transaction
     *     can go on, unguarded
     * @throws TransactionConflictException if this transaction can't go on and has to be repeated
     * @throws IllegalStateException if the connection is in no transaction
     * @throws IllegalArgumentException if the token is not positive or above the bound, or a name makes no sense
     * @throws SQLException whatever else the database has to say; roll back
     */
    public void check(Connection connection, String resource, long token, String holdId) throws SQLException {
        RowDialect dialect = RowLocks.check(connection, maxWait);
        ResourceName name = new ResourceName(resource);
        if (token <= 0 || token > highest) {
            throw new IllegalArgumentException(
                    "A token from 1 to " + highest + " was expected, but this one is " + token);
        }
        if (holdId.isEmpty() || holdId.length() > 300 || !holdId.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("The id of a hold has 1 to 300 printable ASCII characters, unlike '"
                    + ResourceName.printable(holdId) + "'");
        }
        try {
            Shown newest = dialect.lockOwn(
                    connection,
                    NamedRow.fence(tables, name),
                    maxWait,
                    row -> new Shown(row.getLong(1), row.getString(2)));
            if (token < newest.token || (token == newest.token && !holdId.equals(newest.hold))) {
                throw new StaleTokenException(resource, dialect.product(), token, holdId, newest.token, newest.hold);
            }
            if (token > newest.token) {
                int changed = RowDialect.update(
                        connection,
                        "UPDATE " + dialect.quoted(tables.fence()) + " SET token = ?, hold = ? WHERE name = ?",
                        token,
                        holdId,
                        name.utf8());
                if (changed != 1) {
                    throw new SQLException("The row of '" + name + "' was locked, and is not there to be written");
                }
            }
        } catch (RowDialect.Busy e) {
            throw RowLocks.timeout(resource, dialect, maxWait, e);
        } catch (SQLException e) {
            throw dialect.translated("'" + resource + "'", e);
        }
    }

    /** What a guard keeps. */
    private record Shown(long token, String hold) {}
}
