package dev.holdfast.sql.rows;

import dev.holdfast.Hold;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Keeps holders that have outlived their lease from writing. A lease is exclusive only until its deadline, and code
 * that is paused beyond it cannot notice; but the database that it writes to can reject it:
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * guard.check(connection, hold); // throws if a later holder has been here
 * writeReport(connection);
 * connection.commit();
 * }</pre>
 *
 * <p>For each resource, the guard stores the greatest fencing token it was shown, and the hold that showed it. It
 * rejects a smaller token, and an equal one from another hold, which a fail-over can produce. This happens in your
 * transaction, under a lock on that row until its end: check and write are atomic, and writers of one resource are
 * serialised. After the check, no earlier holder can commit a guarded write, and what it has committed is visible.
 *
 * <p>It protects what is written in the same transaction, to the database of the guard's table. Every writer must be
 * guarded; call it before the first read of the data to be written. Tokens are not secrets: restrict who may call this,
 * because a greater token, once shown, excludes all smaller ones. {@link #withHighestToken} limits that.
 *
 * <p>Shared holds are not ordered among themselves, so guard exclusive holds only. Immutable; may be used from any
 * thread, if each connection is used by one at a time.
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

    /** A guard with the default tables. */
    public static FenceGuard usual() {
        return in(RowTables.usual());
    }

    /** A guard with these tables. */
    public static FenceGuard in(RowTables tables) {
        return new FenceGuard(tables, USUAL_WAIT, Long.MAX_VALUE);
    }

    /**
     * This guard with another limit on how long a check waits for another writer of the resource; 10 s by default.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public FenceGuard withMaxWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("A wait must be zero or longer, but was " + DurationFormat.format(wait));
        }
        return new FenceGuard(tables, wait, highest);
    }

    /**
     * This guard, which also rejects tokens above a limit, so that an invented one cannot exclude all holders forever.
     * Where tokens follow the store's clock (SQL, Redis, SQLite), they are below {@code (now in µs + a day) × 1.024} if
     * that clock is correct within a day.
     */
    public FenceGuard withHighestToken(long bound) {
        return new FenceGuard(tables, maxWait, bound);
    }

    /**
     * Lets a holder write in the caller's transaction: as {@link #check(Connection, String, long, String)} with the
     * name, the token and the id of the hold.
     *
     * @throws dev.holdfast.LockLostException if the hold is lost; the database is not accessed then
     */
    public void check(Connection connection, Hold hold) throws SQLException {
        check(connection, hold.name(), hold);
    }

    /** As {@link #check(Connection, Hold)}, if the guarded resource has another name than the lock. */
    public void check(Connection connection, String resource, Hold hold) throws SQLException {
        check(connection, resource, hold.fencingToken(), hold.holdId());
    }

    /**
     * Lets a holder write that is identified by its token and id, for example from a message.
     *
     * <p><b>Blocking:</b> while another transaction that has passed this check for the resource is active, at most for
     * the limit of this guard. <b>Interruption:</b> has no effect.
     *
     * @param connection a connection in a transaction
     * @param resource 1 to 512 bytes of UTF-8, compared byte for byte
     * @param token the fencing token, positive
     * @param holdId distinguishes the hold from others with the same token: 1 to 300 printable ASCII characters
     * @throws StaleTokenException if a greater token was shown before, or the same by another hold; roll back
     * @throws RowLockTimeoutException if another transaction kept the row locked for the whole time; this transaction
     *     can continue, unguarded
     * @throws TransactionConflictException if this transaction cannot continue and must be repeated
     * @throws IllegalStateException if the connection is not in a transaction
     * @throws IllegalArgumentException if the token is not positive or is above the limit, or a name is invalid
     * @throws SQLException if the database fails otherwise; roll back
     */
    public void check(Connection connection, String resource, long token, String holdId) throws SQLException {
        RowDialect dialect = RowLocks.check(connection, maxWait);
        ResourceName name = new ResourceName(resource);
        if (token <= 0 || token > highest) {
            throw new IllegalArgumentException("A token must be 1 to " + highest + ", but was " + token);
        }
        if (holdId.isEmpty() || holdId.length() > 300 || !holdId.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("The id of a hold must have 1 to 300 printable ASCII characters, not '"
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
                    throw new SQLException(
                            "The row of '" + name + "' was locked, but disappeared before it was written");
                }
            }
        } catch (RowDialect.Busy e) {
            throw RowLocks.timeout(resource, dialect, maxWait, e);
        } catch (SQLException e) {
            throw dialect.translated("'" + resource + "'", e);
        }
    }

    /** The content of a guard's row. */
    private record Shown(long token, String hold) {}
}
