package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that a transaction has read, and whether they are alive. {@link Ledger} decides what happens when one
 * ends.
 *
 * <p>Not thread-safe.
 */
public final class SessionCache {

    private final LedgerTransaction transaction;
    private final Rows rows;
    private final StoreContext context;
    private final Map<Long, Optional<SessionRow>> known = new HashMap<>();

    SessionCache(LedgerTransaction transaction, Rows rows, StoreContext context) {
        this.transaction = transaction;
        this.rows = rows;
        this.context = context;
    }

    /** Forgets all sessions, for a new transaction. */
    void forgetAll() {
        known.clear();
    }

    /** A session that is alive, or whose row is kept for its detached grants. */
    @Nullable
    public SessionRow known(long id) throws SQLException {
        Optional<SessionRow> session = known.get(id);
        if (session == null) {
            session = Optional.ofNullable(rows.session(id));
            known.put(id, session);
        }
        return session.orElse(null);
    }

    /**
     * Whether a session that has not ended should: it has expired, or the processes that could renew it have ended.
     * Checked once in a transaction.
     */
    boolean isOver(SessionRow session) throws SQLException {
        if (!session.isWitnessed) {
            if (session.deadline <= transaction.now()
                    || (session.client != context.client() && context.isGone(session.client))) {
                return true;
            }
            session.isWitnessed = true;
        }
        return false;
    }

    /**
     * Adds a session that was read along with another row, or null if it does not exist, unless it is known already.
     */
    void putIfUnknown(long id, @Nullable SessionRow session) {
        known.putIfAbsent(id, Optional.ofNullable(session));
    }

    /** Adds a session that was read in this transaction. */
    public void put(SessionRow session) {
        known.put(session.id, Optional.of(session));
    }

    void add(SessionRow session) throws SQLException {
        transaction.mustWrite();
        rows.add(session);
        known.put(session.id, Optional.of(session));
    }

    void save(SessionRow session) throws SQLException {
        transaction.mustWrite();
        rows.save(session);
    }

    /** Drops the row of a session that has ended. */
    public void drop(SessionRow session) throws SQLException {
        transaction.mustWrite();
        rows.drop(session);
        known.put(session.id, Optional.empty());
        context.forgotten(session);
    }
}
