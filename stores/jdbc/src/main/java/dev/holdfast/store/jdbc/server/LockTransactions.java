package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.MissingLockException;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of a lane. Each first locks its resources, in the order of their names, then the sessions that claim
 * something, and reads everything else after that. So nothing that its decisions depend on changes until the commit.
 *
 * <p>A failure before the commit has no effect. If the commit itself fails, the effect is unknown. Not thread-safe.
 */
final class LockTransactions {

    private static final Logger LOG = LoggerFactory.getLogger(LockTransactions.class);

    /** The task fails after this many attempts that conflicted with others, or turned out to need more rows. */
    private static final int MOST_TRIES = 100;

    /** The task fails on this many lock-wait time-outs even if no row is still locked, and on the first if one is. */
    private static final int MOST_WAITS = 2;

    /** After this many attempts in which rows disappeared between the read and the write, it is reported as damage. */
    private static final int MOST_GONE = 10;

    /** The work between the locking and the commit. */
    @FunctionalInterface
    interface Work {
        void carryOut(Ledger ledger) throws SQLException;
    }

    /** Work with the names and sessions that it is known to need. */
    static final class Task {
        final Set<ResourceName> names = new TreeSet<>();

        /** The names that must have a row. */
        final Set<ResourceName> needed = new HashSet<>();

        /** The sessions that claim something. */
        final Set<Long> sessions = new TreeSet<>();

        final Work work;

        /** Whether a crash may undo the work after it was executed, because nothing was granted or released. */
        final BooleanSupplier mayBeUndone;

        Task(Work work) {
            this(work, () -> false);
        }

        Task(Work work, BooleanSupplier mayBeUndone) {
            this.work = work;
            this.mayBeUndone = mayBeUndone;
        }
    }

    private final Product product;
    private final ServerConnections connections;
    private final ServerConnections.Use use;
    private final long client;
    private final StatementCache statements;
    private final ServerContext context;
    private final Ledger ledger;
    private final String clock;

    /** Whether a transaction is active. */
    private boolean begun;

    /** When the caller whose thread makes the round trip gives up; null on any other thread. */
    private @Nullable Long callerGivesUpAt;

    /** @param use which connection; on the one for locked rows, no transaction that needs several rows waits */
    LockTransactions(
            Product product,
            SqlTemplates templates,
            ServerConnections connections,
            ServerConnections.Use use,
            long client) {
        this.product = product;
        this.connections = connections;
        this.use = use;
        this.client = client;
        this.statements = new StatementCache(templates);
        this.context = new ServerContext(product, statements, client);
        this.ledger = new Ledger(context);
        this.clock = templates.of("SELECT " + product.clock());
    }

    /** The ledger that the work uses. */
    Ledger ledger() {
        return ledger;
    }

    ServerContext context() {
        return context;
    }

    /**
     * Takes a connection for a round trip, which ends with {@link #rest()}.
     *
     * @throws SQLException also if a caller makes the round trip and there is no connection that is ready to use
     */
    @CanIgnoreReturnValue
    StatementCache attach() throws SQLException {
        Long until = callerGivesUpAt;
        Connection connection =
                until == null ? connections.get(use) : connections.getWithin(use, until - SystemClock.nanoTime());
        if (connection == null) {
            throw new SQLException("No connection is available");
        }
        statements.attach(connection);
        return statements;
    }

    /** Starts a round trip on the thread of a caller, which must not block for longer than this. */
    void beginForCaller(Duration timeout) {
        callerGivesUpAt = SystemClock.nanoTime() + timeout.toNanos();
    }

    void endForCaller() {
        callerGivesUpAt = null;
    }

    void rest() {
        connections.rest(use, statements);
    }

    void begin() throws SQLException {
        begun = true;
        product.begin(statements, connections.areLent());
    }

    void commit() throws SQLException {
        product.commit(statements, connections.areLent());
        begun = false;
    }

    /**
     * Whether it can wait in the server: only on the store's own connection, and where no other work waits behind it.
     */
    boolean canWaitInServer() {
        return use == ServerConnections.Use.LOCKED_ROWS && !connections.areLent();
    }

    /** Discards the connection, because it is unusable or may have an active transaction. */
    void lose() {
        statements.forget();
        connections.discard(use);
    }

    /** Replaces a connection to a read-only server; returns whether another one may be better. */
    @CanIgnoreReturnValue
    private boolean replace() {
        statements.forget();
        return connections.replace(use);
    }

    /**
     * Executes a task.
     *
     * @throws StoreException if it fails
     */
    void carryOut(Task task, List<LedgerTransaction.Notification> notifications) {
        try {
            carryOutUnlessLocked(task, notifications, LockWait.BRIEF);
        } catch (RowsBusyException e) {
            throw e.failure();
        }
    }

    /**
     * Executes a task, and retries it if it conflicts with others or turns out to need more rows.
     *
     * @throws StoreException if it fails
     * @param wait longer than briefly only if it {@linkplain #canWaitInServer can be}
     * @throws RowsBusyException if other transactions keep rows locked for longer than that
     */
    void carryOutUnlessLocked(Task task, List<LedgerTransaction.Notification> notifications, LockWait wait)
            throws RowsBusyException {
        int waits = MOST_WAITS;
        for (int left = MOST_TRIES; ; left--) {
            Effect[] effect = {Effect.NONE};
            try {
                attach();
                if (canWaitInServer()) {
                    product.boundWaits(statements.connection(), wait);
                }
                List<ResourceName> missing = attempt(task, effect, wait);
                if (missing.isEmpty()) {
                    notifications.addAll(ledger.notifications());
                    return;
                }
                if (left < MOST_TRIES) {
                    requireCanBeMade(missing, left);
                }
                product.add(statements, missing.stream().map(ResourceName::utf8).toList());
            } catch (MissingLockException more) {
                undo();
                requireFree(more.names());
                task.names.addAll(more.names());
            } catch (SQLException e) {
                StatementCache.logSuppressed(e);
                undo();
                if (product.isReadOnly(e)) {
                    if (left == 0 || !replace()) {
                        throw product.translated(e, Effect.NONE);
                    }
                } else if (product.isConnectionLost(e)) {
                    lose();
                    if (effect[0] == Effect.UNKNOWN || left < MOST_TRIES) {
                        throw product.translated(e, effect[0]);
                    }
                } else if (product.isBlocked(e)) {
                    waits--;
                    Set<ResourceName> locked = locked(task.names);
                    if (waits == 0 || !locked.isEmpty()) {
                        throw new RowsBusyException(locked, e);
                    }
                } else if (!product.isBusy(e) || left == 0) {
                    throw product.translated(e, product.isBusy(e) ? Effect.NONE : effect[0]);
                }
            } catch (StoreException e) {
                undo();
                // The next attempt does not read the rows that were deleted meanwhile.
                if (!StatementCache.isRowGone(e) || left < MOST_TRIES - MOST_GONE) {
                    throw e;
                }
            } catch (RuntimeException | Error e) {
                abandon();
                throw e;
            } finally {
                rest();
            }
        }
    }

    /** In the lane for locked rows, a transaction that needs several rows must not wait for one while it has others. */
    private void requireFree(List<ResourceName> names) throws RowsBusyException {
        if (use == ServerConnections.Use.LOCKED_ROWS) {
            Set<ResourceName> locked = locked(Set.copyOf(names));
            if (!locked.isEmpty()) {
                throw new RowsBusyException(locked, null);
            }
        }
    }

    /** Which of these names have rows that are locked at this moment. */
    Set<ResourceName> locked(Set<ResourceName> names) {
        if (names.isEmpty()) {
            return Set.of();
        }
        try {
            return product.locked(
                    attach(), names.stream().map(ResourceName::utf8).toList());
        } catch (SQLException e) {
            undo(e);
            throw product.translated(e, Effect.NONE);
        } catch (RuntimeException | Error e) {
            abandon();
            throw e;
        } finally {
            rest();
        }
    }

    /**
     * Rows that were inserted are missing again: another client cleans up at the same moment, or the row with the token
     * floor is missing.
     */
    private void requireCanBeMade(List<ResourceName> missing, int left) throws SQLException {
        long floor = ledger.rows().floor();
        if (left <= 0) {
            throw new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    Effect.NONE,
                    "the row of '" + missing.get(0) + "' disappears each time it is created; no token above " + floor
                            + " was issued",
                    null);
        }
    }

    /** Returns the names that must have a row and have none, in which case nothing was done. */
    private List<ResourceName> attempt(Task task, Effect[] effect, LockWait wait) throws SQLException {
        begin();
        List<ResourceRow> resources = lockResources(task.names, wait);
        Set<ResourceName> found = new HashSet<>();
        resources.forEach(resource -> found.add(resource.name));
        List<ResourceName> missing = task.needed.stream()
                .filter(name -> !found.contains(name))
                .sorted()
                .toList();
        if (!missing.isEmpty()) {
            undo();
            return missing;
        }
        List<SessionRow> sessions = lockSessions(task.sessions);
        ledger.begin(true);
        resources.forEach(ledger.resources()::put);
        sessions.forEach(ledger.sessions()::put);
        for (ResourceName name : task.names) {
            if (!found.contains(name)) {
                ledger.resources().put(new ResourceRow(name, name.utf8()));
            }
        }
        task.work.carryOut(ledger);
        WriteBatch writes = ledger.finish();
        List<LedgerTransaction.Notification> others = ledger.notifications().stream()
                .filter(one -> one.client() != client)
                .toList();
        if (!others.isEmpty()) {
            product.addNotifications(writes, others);
        } else if (ledger.notifications().isEmpty() && task.mayBeUndone.getAsBoolean()) {
            product.relax(writes);
        }
        writes.send();
        effect[0] = Effect.UNKNOWN;
        commit();
        if (!others.isEmpty()) {
            wake(others);
        }
        return List.of();
    }

    private List<ResourceRow> lockResources(Set<ResourceName> names, LockWait wait) throws SQLException {
        if (names.isEmpty()) {
            return List.of();
        }
        List<byte[]> keys = names.stream().map(ResourceName::utf8).toList();
        try (ResultSet row = product.locking(statements, keys, wait).executeQuery()) {
            return Rows.resources(row);
        }
    }

    /**
     * Locks the sessions, which stay unchanged until the transaction ends, and sets the transaction's time: it is no
     * later than any read except that of the resources.
     */
    private List<SessionRow> lockSessions(Set<Long> ids) throws SQLException {
        List<SessionRow> found = new ArrayList<>(ids.size());
        long now = 0;
        for (long id : ids) {
            PreparedStatement select = statements.prepare(statements.templates().of(product.sharingSession()));
            select.setLong(1, id);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    found.add(Rows.session(id, row, 1));
                    now = row.getLong(6);
                }
            }
        }
        context.clock().set(now == 0 ? now() : now);
        return found;
    }

    /** Wakes other clients. A failure is only logged, because the transaction is committed. */
    private void wake(List<LedgerTransaction.Notification> others) {
        try {
            product.wake(statements, others);
        } catch (SQLException e) {
            LOG.debug("other clients could not be notified of their grants; they will find them by polling", e);
            StatementCache.logSuppressed(e);
            if (product.isConnectionLost(e)) {
                lose();
            }
        }
    }

    private long now() throws SQLException {
        try (ResultSet row = statements.prepare(clock).executeQuery()) {
            if (!row.next()) {
                throw new SQLException("The database did not return its time");
            }
            return row.getLong(1);
        }
    }

    /** Rolls back after a failure, and ends the connection if it is unusable. */
    void undo(SQLException failure) {
        StatementCache.logSuppressed(failure);
        undo();
        if (product.isReadOnly(failure)) {
            replace();
        } else if (product.isConnectionLost(failure) || statements.isClosed()) {
            lose();
        }
    }

    /** Rolls back the active transaction, if there is one. */
    void undo() {
        if (!begun) {
            return;
        }
        begun = false;
        try {
            product.rollback(statements, connections.areLent());
        } catch (SQLException e) {
            // Ending the connection rolls back too.
            lose();
        } catch (RuntimeException | Error e) {
            LOG.error("a transaction could not be rolled back; its connection is discarded", e);
            abandon();
        }
    }

    /**
     * Ends the connection after an unexpected error, which rolls back the active transaction. The driver may be in any
     * state: the rest of a partly read answer could be taken for that of the next statement.
     */
    void abandon() {
        begun = false;
        statements.forget();
        connections.discard(use);
    }
}
