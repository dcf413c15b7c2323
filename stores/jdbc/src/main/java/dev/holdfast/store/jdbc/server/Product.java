package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.store.ledger.LockedRowSet;
import dev.holdfast.store.ledger.Transaction;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.table.Resource;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.Session;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** What differs between the database servers. Stateless; the statements say which connection is meant. */
public interface Product {

    /** The names of the columns of a resource, as {@link Rows#resources} wants them. */
    String RESOURCE_COLUMNS = "spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,"
            + " grants, shared, waiters, places, name";

    /** What all servers say in another way than {@link SqlTemplate}. */
    Map<SqlTemplate, String> TEXTS = Map.of(
            SqlTemplate.RAISE_FLOOR,
            "UPDATE holdfast_meta SET token_floor = greatest(token_floor, ?) WHERE one = 1",
            SqlTemplate.CONTENDED,
            // An index over a column that each grant changes would make each grant dearer.
            "SELECT DISTINCT r.name FROM holdfast_claim c JOIN holdfast_resource r ON r.name = c.name"
                    + " WHERE c.granted = 0 AND r.session = ?");

    /** What it is called. */
    String title();

    /** What it is called, without its version. */
    String system();

    /**
     * An expression for the database's time at which the statement began, in whole microseconds since 1970; whatever
     * the time zones are.
     */
    String clock();

    /** A query for what tells the server, and its history since a promotion, from any other. */
    String identity();

    /** What stands around an identifier that has to be taken as it is. */
    String quote();

    /**
     * Where names without a schema lead on a connection.
     *
     * @param table the name of a table that is there where tables of locks are
     */
    SearchPath searchPath(Connection connection, String table) throws SQLException;

    /** The tables of locks. */
    ServerSchema schema(SqlTemplates templates);

    /**
     * How locks that nobody else wants are taken and given back, and the plain ones that somebody waits for are handed
     * over.
     */
    ServerFastPath fastPath(SqlTemplates templates, boolean isLent, long client);

    /**
     * A query for the rows of resources that locks them, in the order of their names, so that nobody waits for each
     * other in a circle.
     */
    PreparedStatement locking(StatementCache statements, List<byte[]> keys, LockWait wait) throws SQLException;

    /**
     * Adds rows for resources that have none yet, in the order of their names, as a transaction of its own; those that
     * somebody else adds meanwhile are left alone.
     */
    void add(StatementCache statements, List<byte[]> keys) throws SQLException;

    /**
     * Locks the rows of resources, in the order of their names, and after that sessions, which stay as they are until
     * the transaction ends; in as few trips as the driver allows. Without more one statement after another, each of
     * which is a trip to the server.
     */
    default LockedRowSet lock(StatementCache statements, List<byte[]> keys, Collection<Long> sessions, LockWait wait)
            throws SQLException {
        List<Resource> resources = List.of();
        if (!keys.isEmpty()) {
            try (ResultSet row = locking(statements, keys, wait).executeQuery()) {
                resources = Rows.resources(row);
            }
        }
        List<Session> found = new ArrayList<>(sessions.size());
        long now = 0;
        for (long id : sessions) {
            PreparedStatement select = statements.prepare(statements.templates().of(sharingSession()));
            select.setLong(1, id);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    found.add(Rows.session(id, row));
                    now = row.getLong(6);
                }
            }
        }
        return new LockedRowSet(resources, found, now, null);
    }

    /**
     * A query for one session and, behind its columns, the time, that keeps its row as it is until the transaction
     * ends.
     */
    String sharingSession();

    /** Ends a session if its deadline is still that one and nobody has its row locked; tells whether it did. */
    boolean expire(StatementCache statements, Session session) throws SQLException;

    /** A statement about these names, at least one: the values that the condition between the two texts allows. */
    PreparedStatement ofNames(StatementCache statements, String before, List<byte[]> keys, String behind)
            throws SQLException;

    /**
     * Which of these have rows that somebody has locked at this moment; a transaction of its own, which waits for
     * nobody.
     */
    default Set<ResourceName> locked(StatementCache statements, List<byte[]> keys) throws SQLException {
        String select = "SELECT name FROM holdfast_resource WHERE name";
        List<ResourceName> unlocked =
                StatementCache.names(ofNames(statements, select, keys, " FOR UPDATE SKIP LOCKED"));
        Set<ResourceName> locked = new TreeSet<>(StatementCache.names(ofNames(statements, select, keys, "")));
        unlocked.forEach(locked::remove);
        return locked;
    }

    /**
     * Of the rows of names: that nobody uses it, that it is no latch, and that its tokens end up to there; locked, but
     * for what somebody else has locked.
     */
    String AT_REST = " AND session = 0 AND grants = 0 AND waiters = 0 AND spec % 256 <> 108 AND last_token <= ?"
            + " AND NOT EXISTS (SELECT 1 FROM holdfast_latch l WHERE l.name = holdfast_resource.name)"
            + " FOR UPDATE SKIP LOCKED";

    /**
     * A query for those of these names whose rows are at rest, with no token above that one, which locks them and waits
     * for nobody.
     */
    PreparedStatement lockingAtRest(StatementCache statements, List<byte[]> keys, long newest) throws SQLException;

    /** Deletes the rows of these names, which are locked. */
    default void delete(StatementCache statements, List<byte[]> keys) throws SQLException {
        ofNames(statements, "DELETE FROM holdfast_resource WHERE name", keys, "")
                .executeUpdate();
    }

    /**
     * Whether statements that each are a transaction of their own are right on a lent connection of that isolation, one
     * of the constants of {@link Connection}; {@link #begin} sets what longer transactions need.
     */
    default boolean fitsStatements(int isolation) {
        return isolation == Connection.TRANSACTION_READ_COMMITTED;
    }

    /** Bounds how long a statement on a connection of our own waits for a lock from here on. */
    void boundWaits(Connection own, LockWait wait) throws SQLException;

    /**
     * Begins a transaction, in which each statement sees what was committed before it.
     *
     * @param isLent whether the connection is somebody else's: then the transaction alone has {@link LockWait#BRIEF}
     *     for its bound, and the connection is left as it was
     */
    void begin(StatementCache statements, boolean isLent) throws SQLException;

    void commit(StatementCache statements, boolean isLent) throws SQLException;

    /** Undoes what is under way. */
    void rollback(StatementCache statements, boolean isLent) throws SQLException;

    /** Adds to what a transaction writes what is told to other clients with its commit. */
    void tell(WriteBatch writes, List<Transaction.Notification> told);

    /**
     * Lets the commit of the transaction not wait for the disk, where that can be had: a crash of the server may take
     * it back, but nothing that was committed before it.
     */
    void relax(WriteBatch writes);

    /** Whether the driver sends statements together that stand together. */
    boolean joins();

    /** Wakes other clients for what they were let in to; the transaction is committed. */
    void wake(StatementCache statements, List<Transaction.Notification> told) throws SQLException;

    /** What a client hears of its grants with. */
    NotificationListener listening(
            DataSource source,
            SqlTemplates templates,
            NamedThreadFactory threads,
            long client,
            FailoverDetector failovers,
            Consumer<Signal> listener);

    /** Whether it tells of all, and not only of grants, and those in all likelihood. */
    boolean tellsAll();

    /** What a failure means. */
    FailureKind kind(SQLException failure);

    /** Whether it is busy because somebody kept a row locked for as long as the statement was to wait. */
    default boolean isBlocked(SQLException failure) {
        return kind(failure) == FailureKind.LOCK_WAIT;
    }

    /** Whether others were in the way: it had no effect, and is worth another try at once. */
    default boolean isBusy(SQLException failure) {
        return kind(failure).isBusy();
    }

    /**
     * Whether the server takes no writes, as a primary that was demoted while connections to it stay open: nothing was
     * done, also of a commit, as the server undoes the transaction when it refuses that.
     */
    default boolean isReadOnly(SQLException failure) {
        return kind(failure) == FailureKind.READ_ONLY;
    }

    /** Whether the connection is of no use any more. */
    default boolean isConnectionLost(SQLException failure) {
        return kind(failure) == FailureKind.DISCONNECTED;
    }

    /** A failure in the terms of the SPI, and in words for people. */
    default StoreException translated(SQLException failure, Effect effect) {
        return kind(failure).failure(title(), failure, effect);
    }
}
