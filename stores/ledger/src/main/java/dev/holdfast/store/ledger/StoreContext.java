package dev.holdfast.store.ledger;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.store.ledger.table.Session;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;

/**
 * Environment of the {@link Ledger}: the statements of one connection, a clock, and the decisions that differ from
 * database to database. All methods are called by the one thread that has the lane, inside a transaction.
 */
public interface StoreContext {

    /** The store instance that this is. */
    long client();

    /** The clock of the database, or of its machine. */
    StoreClock clock();

    /** The statements of the one connection of the lane. */
    StatementCache statements();

    /**
     * Whether a transaction that writes has the whole database to itself. Otherwise it has the resources that it has
     * locked, and what belongs to others is left to those who lock them.
     */
    boolean isAlone();

    /** Whether the driver sends statements together that stand together. */
    boolean joins();

    /**
     * Where a transaction is not alone: ends a session whose time has come, so that no late keep-alive can bring it
     * back; false if it has been renewed meanwhile or somebody is using it, so that it lives.
     */
    boolean expire(Session session) throws SQLException;

    /**
     * Whether the processes that stand behind a store instance are known to have ended, and with them all that could
     * renew or use its holds.
     */
    boolean isGone(long client) throws SQLException;

    /** The row of a session that is about to be opened, under a number that no session ever had. */
    Session newcomer(OpenSession command, long now) throws SQLException;

    /** The row of a session was dropped. */
    void forgotten(Session session) throws SQLException;

    /** No token is given up to here, whatever the row of a resource says. */
    long tokenFloor();

    /** Tokens were reserved up to here, in the transaction that is under way. */
    void reserved(long lastToken) throws SQLException;

    /**
     * What the transaction that is under way writes must not be lost, even if all that is held ends with the machine:
     * once it is committed, it stays.
     */
    void mustLast() throws SQLException;

    /**
     * When a waiter is to look again at the latest, in microseconds, if no lease is over before. Told for each that is
     * found to wait, in a transaction that may be undone yet.
     */
    long recheck(ClaimRef claim, WaitCondition wait);
}
