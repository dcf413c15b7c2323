package dev.holdfast.sql.rows;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.Identifiers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Optimistic versions: read a version, do the work, and save only if the version is still the same. This is not a lock:
 * several transactions may work at once, and one of them can save. Use it where conflicts are rare.
 *
 * <pre>{@code
 * Versioned account = Versioned.row(TableRow.of("account", "id", 42), "version");
 * account.update(dataSource, (connection, version) -> book(connection, 42, amount));
 * }</pre>
 *
 * <p>The version is a column of a row of yours, which only this class may write, or a name in our table. The comparison
 * is the last statement of the transaction that does the work: work and version are committed together, or neither.
 *
 * <p>After a fail-over to a replica without the newest changes, the same number may be used again for other content. So
 * a {@linkplain RowVersion#nonce() random number} is stored and compared too: always in our table, and in a row of
 * yours if {@link #withNonce} names a column.
 *
 * <p>Immutable; may be used from any thread.
 */
public final class Versioned {

    private static final int USUAL_ATTEMPTS = 10;

    private final VersionTable table;
    private final int attempts;

    private Versioned(VersionTable table, int attempts) {
        this.table = table;
        this.attempts = attempts;
    }

    /**
     * The version of a name, in the default tables. It is 0 for a name that was never used.
     *
     * @param name 1 to 512 bytes of UTF-8, compared byte for byte
     */
    public static Versioned named(String name) {
        return named(RowTables.usual(), name);
    }

    /** The version of a name, in these tables. */
    public static Versioned named(RowTables tables, String name) {
        return new Versioned(VersionTable.ours(tables, new ResourceName(name)), USUAL_ATTEMPTS);
    }

    /**
     * The version of a row of yours.
     *
     * @param column an integer column that is not null, with any initial value
     */
    public static Versioned row(TableRow row, String column) {
        return new Versioned(VersionTable.theirs(row, Identifiers.checked(column), null), USUAL_ATTEMPTS);
    }

    /**
     * This version with a column of 64-bit integers that is not null, for a random number.
     *
     * @throws IllegalStateException if this is a name in our table, which has one already
     */
    public Versioned withNonce(String column) {
        return new Versioned(table.withNonce(Identifiers.checked(column)), attempts);
    }

    /**
     * This version with another limit on how often {@link #update(DataSource, VersionedWork)} runs the work; 10 by
     * default.
     */
    public Versioned withAttempts(int atMost) {
        if (atMost < 1) {
            throw new IllegalArgumentException(
                    "The work must be allowed to run at least once, not " + atMost + " times");
        }
        return new Versioned(table, atMost);
    }

    /**
     * The version that the caller's transaction sees.
     *
     * @param connection one that is in a transaction
     * @throws NoSuchRowException if the row does not exist
     * @throws IllegalStateException if the connection is in no transaction
     */
    public RowVersion read(Connection connection) throws SQLException {
        RowDialect.requireTransaction(connection);
        return read(RowDialect.of(connection), connection);
    }

    /**
     * Compares the version and sets the next one, in the caller's transaction. The row is then locked until its end, so
     * call this last.
     *
     * <p><b>Blocking:</b> while another transaction that has done the same is active, as with every update, for as long
     * as the settings of the connection permit.
     *
     * @param expected the version that {@link #read} returned before the work
     * @return the next version
     * @throws VersionConflictException if the version has changed; roll back
     * @throws TransactionConflictException if this transaction cannot continue and must be repeated
     * @throws IllegalStateException if the connection is in no transaction
     */
    @CanIgnoreReturnValue
    public RowVersion advance(Connection connection, RowVersion expected) throws SQLException {
        RowDialect.requireTransaction(connection);
        RowDialect dialect = RowDialect.of(connection);
        RowVersion next = new RowVersion(expected.number() + 1, table.hasNonce() ? Randomness.nextLong() : 0);
        try {
            if (table.advance(dialect, connection, expected, next)) {
                return next;
            }
            RowVersion found = table.read(dialect, connection, dialect.newest());
            throw new VersionConflictException(table.row(), dialect.product(), expected, found, null);
        } catch (SQLException e) {
            if (dialect.kindOf(e) == FailureKind.CONFLICT) {
                // The database has detected that this row was changed after the transaction began.
                throw new VersionConflictException(table.row(), dialect.product(), expected, null, e);
            }
            throw dialect.translated(table.row(), e);
        }
    }

    /**
     * Reads the version, does the work, compares and sets the next version, once, in the caller's transaction, which
     * stays open.
     *
     * @return what the work returns
     * @throws VersionConflictException as for {@link #advance}
     */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object, E extends Exception> T update(Connection connection, VersionedWork<T, E> work)
            throws E, SQLException {
        RowVersion version = read(connection);
        T result = work.run(connection, version);
        advance(connection, version);
        return result;
    }

    /**
     * Reads the version, does the work, compares, sets the next version and commits, in separate transactions: after a
     * conflict it starts again, with a growing, jittered pause.
     *
     * <p><b>Interruption:</b> ends the attempts; the flag stays set.
     *
     * @param source lends a connection for each attempt, which is returned; not a source that lends the connection of
     *     an active transaction
     * @return what the work returns
     * @throws VersionConflictException from the last attempt; the work was not saved
     * @throws TransactionConflictException likewise
     * @throws NoSuchRowException if the row does not exist
     * @throws SQLException if the database fails otherwise. If the commit failed, for example because the connection
     *     was lost, it is unknown whether the work was saved
     */
    @CanIgnoreReturnValue
    public <T extends @Nullable Object, E extends Exception> T update(DataSource source, VersionedWork<T, E> work)
            throws E, SQLException {
        for (int attempt = 1; ; attempt++) {
            RowDialect[] dialect = new RowDialect[1];
            try {
                return TransactionTemplate.run(source, connection -> {
                    dialect[0] = RowDialect.of(connection);
                    return update(connection, work);
                });
            } catch (Exception e) {
                if (dialect[0] == null || !isConflict(dialect[0], e)) {
                    throw e;
                }
                if (attempt >= attempts || !ConflictBackoff.pause(attempt)) {
                    if (!isOurs(e)) {
                        var unused = dialect[0].translated(table.row(), e);
                    }
                    throw e;
                }
            }
        }
    }

    /**
     * Whether the work or the commit has conflicted with other transactions. The work and frameworks may wrap the
     * failure in their own exceptions, even checked ones.
     */
    private static boolean isConflict(RowDialect dialect, Exception failure) {
        return dialect.isWorthAnotherTry(failure)
                || FailureKind.chain(failure).stream().anyMatch(Versioned::isOurs);
    }

    private static boolean isOurs(Throwable failure) {
        return failure instanceof VersionConflictException || failure instanceof TransactionConflictException;
    }

    private RowVersion read(RowDialect dialect, Connection connection) throws SQLException {
        try {
            RowVersion version = table.read(dialect, connection, "");
            if (version == null) {
                throw new NoSuchRowException(table.row(), dialect.product());
            }
            return version;
        } catch (SQLException e) {
            throw dialect.translated(table.row(), e);
        }
    }
}
