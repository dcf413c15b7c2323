package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.Session;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that a transaction has met, and whether they live. What comes of the end of one is told in
 * {@link Ledger}.
 *
 * <p>Not thread-safe.
 */
public final class Sessions {

    private final Transaction transaction;
    private final Rows rows;
    private final StoreContext context;
    private final Map<Long, Optional<Session>> known = new HashMap<>();

    Sessions(Transaction transaction, Rows rows, StoreContext context) {
        this.transaction = transaction;
        this.rows = rows;
        this.context = context;
    }

    /** For a new transaction. */
    void forgetAll() {
        known.clear();
    }

    /** A session that lives, or whose row is kept for its detached grants. */
    @Nullable
    public Session known(long id) throws SQLException {
        Optional<Session> session = known.get(id);
        if (session == null) {
            session = Optional.ofNullable(rows.session(id));
            known.put(id, session);
        }
        return session.orElse(null);
    }

    /**
     * Whether a session that has not ended should: its time is over, or whoever could renew it is gone. Looked at once
     * in a transaction.
     */
    boolean isOver(Session session) throws SQLException {
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
     * A session as it was read together with something else, or null if it is not there; what is known of it already
     * stands.
     */
    void meet(long id, @Nullable Session session) {
        known.putIfAbsent(id, Optional.ofNullable(session));
    }

    /** A session as it was read in this transaction. */
    void give(Session session) {
        known.put(session.id, Optional.of(session));
    }

    void add(Session session) throws SQLException {
        transaction.mustWrite();
        rows.add(session);
        known.put(session.id, Optional.of(session));
    }

    void save(Session session) throws SQLException {
        transaction.mustWrite();
        rows.save(session);
    }

    /** Drops the row of a session that has ended. */
    public void drop(Session session) throws SQLException {
        transaction.mustWrite();
        rows.drop(session);
        known.put(session.id, Optional.empty());
        context.forgotten(session);
    }
}
