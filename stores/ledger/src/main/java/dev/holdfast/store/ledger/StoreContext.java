package dev.holdfast.store.ledger;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;

/**
 * Environment of the {@link Ledger}: the statements of one connection, a clock, and the decisions that differ from
 * database to database. All methods are called by the one thread that owns the lane, inside a transaction.
 */
public interface StoreContext {

    /** The number of this store instance. */
    long client();

    /** The clock of the database, or of its host. */
    StoreClock clock();

    /** The statements of the one connection of the lane. */
    StatementCache statements();

    /**
     * Whether a writing transaction has the whole database to itself. Otherwise it may change only the resources that
     * it has locked.
     */
    boolean isAlone();

    /** Whether the driver sends statements of one text in one round trip. */
    boolean joins();

    /**
     * Where a transaction does not have the database to itself: ends an expired session, so that no late keep-alive can
     * revive it. Returns false if the session is alive, because it was renewed meanwhile or another transaction is
     * using it.
     */
    boolean expire(SessionRow session) throws SQLException;

    /** Whether all processes that could renew or use the holds of a store instance are known to have ended. */
    boolean isGone(long client) throws SQLException;

    /** A row for a session to be opened, with a number that no session ever had. */
    SessionRow newcomer(OpenSession command, long now) throws SQLException;

    /** Called when the row of a session was dropped. */
    void forgotten(SessionRow session) throws SQLException;

    /** Every new token is greater than this, whatever the row of its resource says. */
    long tokenFloor();

    /** Called when the current transaction has reserved tokens up to this one. */
    void reserved(long lastToken) throws SQLException;

    /** Makes the current transaction's commit durable, even if all leases end with the host. */
    void mustLast() throws SQLException;

    /**
     * The longest time in microseconds until a waiter polls again, if no lease expires earlier. Called for each waiting
     * claim, in a transaction that may still be rolled back.
     */
    long recheck(ClaimRef claim, WaitCondition wait);
}
