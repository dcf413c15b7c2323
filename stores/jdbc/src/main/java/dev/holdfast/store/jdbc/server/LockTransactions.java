package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.LockedRowSet;
import dev.holdfast.store.ledger.MissingLockException;
import dev.holdfast.store.ledger.Transaction;
import dev.holdfast.store.ledger.runtime.SystemTime;
import dev.holdfast.store.ledger.table.Resource;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of a lane. Each first locks the resources that it is about, in the order of their names, then the
 * sessions that ask for something, and reads all else after that; so whatever it decides on stays as it is until the
 * commit.
 *
 * <p>A failure before the commit leaves nothing behind. If the commit itself fails nobody can say what came of it, and
 * the effect is unknown. Not thread-safe.
 */
final class LockTransactions {

    private static final Logger LOG = LoggerFactory.getLogger(LockTransactions.class);

    /** So often others may be in the way, or more may turn out to be needed, before a task is given up. */
    private static final int MOST_TRIES = 100;

    /** So often may be waited in vain though nobody has the rows any more when that is looked at. */
    private static final int MOST_WAITS = 2;

    /** So often rows may be gone between the reading and the writing before that is told as damage. */
    private static final int MOST_GONE = 10;

    /** What is done between the locking and the commit. */
    @FunctionalInterface
    interface Work {
        void carryOut(Ledger ledger) throws SQLException;
    }

    /** Work with the names and sessions that it is known to be about. */
    static final class Task {
        final Set<ResourceName> names = new TreeSet<>();

        /** Those of the names that need a row. */
        final Set<ResourceName> needed = new HashSet<>();

        /** Those that ask for something. */
        final Set<Long> sessions = new TreeSet<>();

        final Work work;

        /**
         * Whether, once the work was carried out, a crash may undo it: nobody was given anything, or has given anything
         * back.
         */
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

    /** Whether a transaction is under way. */
    private boolean begun;

    /** When a caller gives up whose thread makes the trip; null while it is another thread. */
    private @Nullable Long callerGivesUpAt;

    /** @param use which of the connections; on that for locked rows no transaction waits that needs more than one */
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

    /** What the work is done on. */
    Ledger ledger() {
        return ledger;
    }

    ServerContext context() {
        return context;
    }

    /**
     * Takes a connection for a trip, which ends with {@link #rest()}.
     *
     * @throws SQLException also if a caller makes the trip, and none can be had without making it or asking the server
     */
    @CanIgnoreReturnValue
    StatementCache attach() throws SQLException {
        Long until = callerGivesUpAt;
        Connection connection =
                until == null ? connections.get(use) : connections.getWithin(use, until - SystemTime.nanoTime());
        if (connection == null) {
            throw new SQLException("No connection can be had at once");
        }
        statements.attach(connection);
        return statements;
    }

    /** From here on the thread of a caller makes the trip, which is not to be kept for longer than that. */
    void beginForCaller(Duration patience) {
        callerGivesUpAt = SystemTime.nanoTime() + patience.toNanos();
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

    /** Whether it can wait in the server: on a connection of our own, on which nobody else's work waits behind it. */
    boolean canBePatient() {
        return use == ServerConnections.Use.LOCKED_ROWS && !connections.areLent();
    }

    /**
     * The connection is of no use any more, or a transaction may still be under way on it: nobody is to have it again.
     */
    void lose() {
        statements.forget();
        connections.discard(use);
    }

    /** The connection is to a server that takes no writes; tells whether another may be better. */
    @CanIgnoreReturnValue
    private boolean replace() {
        statements.forget();
        return connections.replace(use);
    }

    /**
     * Carries a task out.
     *
     * @throws StoreException if that can't be done
     */
    void carryOut(Task task, List<Transaction.Notification> told) {
        try {
            carryOutUnlessLocked(task, told, LockWait.BRIEF);
        } catch (RowsBusyException e) {
            throw e.failure();
        }
    }

    /**
     * Carries a task out, again and again if others are in the way or it turns out to be about more.
     *
     * @throws StoreException if that can't be done
     * @param wait longer than briefly only if that {@linkplain #canBePatient can be}
     * @throws LockedRows if somebody keeps rows locked for longer than that
     */
    void carryOutUnlessLocked(Task task, List<Transaction.Notification> told, LockWait wait) throws RowsBusyException {
        int waits = MOST_WAITS;
        for (int left = MOST_TRIES; ; left--) {
            Effect[] effect = {Effect.NONE};
            try {
                attach();
                if (canBePatient()) {
                    product.boundWaits(statements.connection(), wait);
                }
                List<ResourceName> missing = attempt(task, effect, wait);
                if (missing.isEmpty()) {
                    told.addAll(ledger.told());
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
                // Read anew, what somebody has deleted meanwhile is not there.
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

    /** Where rows are known to be locked, nothing that needs several may wait for one while it has others. */
    private void requireFree(List<ResourceName> names) throws RowsBusyException {
        if (use == ServerConnections.Use.LOCKED_ROWS) {
            Set<ResourceName> locked = locked(Set.copyOf(names));
            if (!locked.isEmpty()) {
                throw new RowsBusyException(locked, null);
            }
        }
    }

    /** Which of these have rows that somebody has locked at this moment. */
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
     * Rows that were made and are not there again: somebody cleans in the same moment, or there is nothing that they
     * could begin with.
     */
    private void requireCanBeMade(List<ResourceName> missing, int left) throws SQLException {
        long floor = ledger.rows().floor();
        if (left <= 0) {
            throw new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    Effect.NONE,
                    "the row of '" + missing.get(0) + "' is gone again each time that it is made; no token above "
                            + floor + " was given",
                    null);
        }
    }

    /** Gives the names that need a row and have none; nothing was done then. */
    private List<ResourceName> attempt(Task task, Effect[] effect, LockWait wait) throws SQLException {
        begin();
        LockedRowSet locked = product.lock(
                statements, task.names.stream().map(ResourceName::utf8).toList(), task.sessions, wait);
        Set<ResourceName> found = new HashSet<>();
        locked.resources().forEach(resource -> found.add(resource.name));
        List<ResourceName> missing = task.needed.stream()
                .filter(name -> !found.contains(name))
                .sorted()
                .toList();
        if (!missing.isEmpty()) {
            undo();
            return missing;
        }
        context.clock().set(locked.now() == 0 ? now() : locked.now());
        ledger.begin(true);
        ledger.give(locked);
        for (ResourceName name : task.names) {
            if (!found.contains(name)) {
                ledger.resources().give(new Resource(name, name.utf8()));
            }
        }
        task.work.carryOut(ledger);
        WriteBatch writes = ledger.finish();
        List<Transaction.Notification> others =
                ledger.told().stream().filter(one -> one.client() != client).toList();
        if (!others.isEmpty()) {
            product.tell(writes, others);
        } else if (ledger.told().isEmpty() && task.mayBeUndone.getAsBoolean()) {
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

    /** What it was about is done, whatever comes of this. */
    private void wake(List<Transaction.Notification> others) {
        try {
            product.wake(statements, others);
        } catch (SQLException e) {
            LOG.debug("other clients could not be told of their grants, and find out for themselves", e);
            StatementCache.logSuppressed(e);
            if (product.isConnectionLost(e)) {
                lose();
            }
        }
    }

    private long now() throws SQLException {
        try (ResultSet row = statements.prepare(clock).executeQuery()) {
            if (!row.next()) {
                throw new SQLException("The database did not tell its time");
            }
            return row.getLong(1);
        }
    }

    /** Undoes what a failure has left under way, and ends a connection that is of no use any more. */
    void undo(SQLException failure) {
        StatementCache.logSuppressed(failure);
        undo();
        if (product.isReadOnly(failure)) {
            replace();
        } else if (product.isConnectionLost(failure)) {
            lose();
        }
    }

    /** Undoes what is under way, if anything is. */
    void undo() {
        if (!begun) {
            return;
        }
        begun = false;
        try {
            product.rollback(statements, connections.areLent());
        } catch (SQLException e) {
            // What can't be undone in order is undone by the end of the connection.
            lose();
        } catch (RuntimeException | Error e) {
            LOG.error("a transaction could not be undone; its connection ends", e);
            abandon();
        }
    }

    /**
     * Ends the connection after an unexpected error, which undoes what is under way. The driver may be in any state: an
     * answer that it has read in part could be taken for that of the next statement.
     */
    void abandon() {
        begun = false;
        statements.forget();
        connections.discard(use);
    }
}
