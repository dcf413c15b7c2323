package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The differences between database servers. Stateless; the connection comes with the statements. */
public interface Product {

    /** The columns of a resource, in the order that {@link Rows#resources} expects. */
    String RESOURCE_COLUMNS = "spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,"
            + " grants, shared, waiters, places, name";

    /** The statements that differ from {@link SqlTemplate} on all servers. */
    Map<SqlTemplate, String> TEXTS = Map.of(
            SqlTemplate.RAISE_FLOOR,
            "UPDATE holdfast_meta SET token_floor = greatest(token_floor, ?) WHERE one = 1",
            SqlTemplate.CONTENDED,
            // An index on a column that each grant changes would make grants slower.
            "SELECT DISTINCT r.name FROM holdfast_claim c JOIN holdfast_resource r ON r.name = c.name"
                    + " WHERE c.granted = 0 AND r.session = ?");

    /** The product's name and version. */
    String title();

    /** The product's name without its version. */
    String system();

    /**
     * An expression for the time at which the statement began, by the server's clock, in whole microseconds since 1970,
     * independent of time zones.
     */
    String clock();

    /** A query for the identity of the server and of its history since a promotion. */
    String identity();

    /** The quotation mark of identifiers. */
    String quote();

    /**
     * Where unqualified names lead on a connection.
     *
     * @param table the name of a table that exists wherever there are tables of locks
     */
    SearchPath searchPath(Connection connection, String table) throws SQLException;

    /** The tables of locks. */
    ServerSchema schema(SqlTemplates templates);

    /** The fast path, which acquires and releases uncontended locks, and hands over simple contended ones. */
    ServerFastPath fastPath(SqlTemplates templates, boolean isLent, long client);

    /** A query that locks the rows of resources, in the order of their names, so that transactions cannot deadlock. */
    PreparedStatement locking(StatementCache statements, List<byte[]> keys, LockWait wait) throws SQLException;

    /**
     * Inserts rows for resources that have none, in the order of their names, in a separate transaction; rows that
     * others insert meanwhile are skipped.
     */
    void add(StatementCache statements, List<byte[]> keys) throws SQLException;

    /**
     * A query for one session and, after its columns, the time; it keeps the row unchanged until the transaction ends.
     */
    String sharingSession();

    /** Ends a session if its deadline is unchanged and its row is not locked; returns whether it did. */
    boolean expire(StatementCache statements, SessionRow session) throws SQLException;

    /** A statement about these names, at least one, whose condition is inserted between the two texts. */
    PreparedStatement ofNames(StatementCache statements, String before, List<byte[]> keys, String behind)
            throws SQLException;

    /** How many values {@link #ofNames} sets for these names. */
    int valuesOf(List<byte[]> keys);

    /** Which of these names have rows that are locked at this moment; a separate transaction that does not wait. */
    default Set<ResourceName> locked(StatementCache statements, List<byte[]> keys) throws SQLException {
        String select = "SELECT name FROM holdfast_resource WHERE name";
        List<ResourceName> unlocked =
                StatementCache.names(ofNames(statements, select, keys, " FOR UPDATE SKIP LOCKED"));
        Set<ResourceName> locked = new TreeSet<>(StatementCache.names(ofNames(statements, select, keys, "")));
        unlocked.forEach(locked::remove);
        return locked;
    }

    /**
     * The condition that a resource is unused, is not a latch, and has no token above a limit; it locks the rows and
     * skips those locked by others.
     */
    String AT_REST = " AND session = 0 AND grants = 0 AND waiters = 0 AND spec % 256 <> 108 AND last_token <= ?"
            + " AND NOT EXISTS (SELECT 1 FROM holdfast_latch l WHERE l.name = holdfast_resource.name)"
            + " FOR UPDATE SKIP LOCKED";

    /** A query that locks the rows of these names that are {@linkplain #AT_REST unused}, and does not wait. */
    default PreparedStatement lockingAtRest(StatementCache statements, List<byte[]> keys, long newest)
            throws SQLException {
        PreparedStatement select = ofNames(statements, "SELECT name FROM holdfast_resource WHERE name", keys, AT_REST);
        select.setLong(valuesOf(keys) + 1, newest);
        return select;
    }

    /** Deletes the rows of these names, which the transaction has locked. */
    default void delete(StatementCache statements, List<byte[]> keys) throws SQLException {
        ofNames(statements, "DELETE FROM holdfast_resource WHERE name", keys, "")
                .executeUpdate();
    }

    /**
     * Whether statements that commit on their own are correct on a lent connection with this isolation, a constant of
     * {@link Connection}; {@link #begin} sets what longer transactions need.
     */
    default boolean fitsStatements(int isolation) {
        return isolation == Connection.TRANSACTION_READ_COMMITTED;
    }

    /** Limits how long statements on a connection of our own wait for a lock. */
    void boundWaits(Connection own, LockWait wait) throws SQLException;

    /**
     * Begins a transaction, in which each statement sees what was committed before it.
     *
     * @param isLent whether the connection is lent: then the limit {@link LockWait#BRIEF} applies only to this
     *     transaction, and the connection's settings are restored
     */
    void begin(StatementCache statements, boolean isLent) throws SQLException;

    void commit(StatementCache statements, boolean isLent) throws SQLException;

    /** Rolls back. */
    void rollback(StatementCache statements, boolean isLent) throws SQLException;

    /** Adds writes that notify other clients with the transaction's commit. */
    void addNotifications(WriteBatch writes, List<LedgerTransaction.Notification> notifications);

    /**
     * Makes the commit not wait for the disk, where the server supports that: a crash may undo it, but nothing that was
     * committed before it.
     */
    void relax(WriteBatch writes);

    /** Whether the driver sends statements of one text in one round trip. */
    boolean joins();

    /** Wakes other clients for their new grants, after the commit. */
    void wake(StatementCache statements, List<LedgerTransaction.Notification> notifications) throws SQLException;

    /** The listener that notifies a client of its grants. */
    NotificationListener listener(NotificationListener.Settings settings);

    /** Whether the listener reports all signals reliably, not just most grants. */
    boolean notifiesReliably();

    /** The kind of a failure. */
    FailureKind kind(SQLException failure);

    /** Whether a row stayed locked for as long as the statement may wait. */
    default boolean isBlocked(SQLException failure) {
        return kind(failure) == FailureKind.LOCK_WAIT;
    }

    /** Whether it conflicted with others: it had no effect and can be retried at once. */
    default boolean isBusy(SQLException failure) {
        return kind(failure).isBusy();
    }

    /**
     * Whether the server is read-only, like a demoted primary with open connections. Nothing was done, even by a
     * commit, because the server rolls back when it rejects that.
     */
    default boolean isReadOnly(SQLException failure) {
        return kind(failure) == FailureKind.READ_ONLY;
    }

    /** Whether the connection is unusable. */
    default boolean isConnectionLost(SQLException failure) {
        return kind(failure) == FailureKind.DISCONNECTED;
    }

    /** The failure as an exception of the SPI, with a message for people. */
    default StoreException translated(SQLException failure, Effect effect) {
        return kind(failure).failure(title(), failure, effect);
    }
}
