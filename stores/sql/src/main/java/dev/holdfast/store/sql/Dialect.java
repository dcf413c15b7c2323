package dev.holdfast.store.sql;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What differs from database to database. All methods are called by the one thread that has the lane.
 */
interface Dialect extends AutoCloseable {

    /** The store instance that this is. */
    long client();

    /** The database machine's clock. */
    StoreClock clock();

    /** The statements of the one connection of the lane. */
    Statements statements();

    /** How long a trip waits for a database that others keep busy. */
    Duration patience();

    /**
     * Says why the database must not be used just now, or any more, before each trip.
     *
     * @throws Gone if that ended our sessions
     * @throws StoreException with the effect {@link Effect#NONE}
     */
    void check() throws Gone;

    /**
     * Carries out a command by a single statement that is its own transaction, or a part of the one that is under way.
     *
     * @return null if it can't be done so; then nothing was changed
     */
    @Nullable
    Reply quick(Command command) throws SQLException;

    /** Begins a transaction that may write and has what locks it needs for that, or one that only reads, all in one state. */
    void begin(boolean writing) throws SQLException;

    void commit() throws SQLException;

    /** Undoes the transaction, if there still is one. */
    void rollback();

    /** Whether the database is only busy: nothing was done, and it is worth another try within the same trip. */
    boolean isBusy(SQLException failure);

    /** What a failure of a statement that is its own transaction says about its effect. */
    Effect effectOf(SQLException failure);

    /** A failure in the terms of the SPI, and in words for people. */
    StoreException translated(SQLException failure, Effect effect);

    /** Whether the processes that stand behind a store instance are known to have ended, and with them all that could renew or use its holds. */
    boolean isGone(long client) throws SQLException;

    /** The row of a session that is about to be opened, under a number that no session ever had. */
    Session newcomer(OpenSession command, long now) throws SQLException;

    /** The row of a session was dropped. */
    void forgotten(Session session) throws SQLException;

    /** No token is given up to here, whatever the row of a resource says. */
    long tokenFloor();

    /** Tokens were reserved up to here, in the transaction that is under way. */
    void reserved(long lastToken) throws SQLException;

    /** What the transaction that is under way writes must not be lost, even if all that is held ends with the machine: once it is committed, it stays. */
    void mustLast() throws SQLException;

    /** Tells another store instance what is for it: a hint, which may be lost. */
    void tell(long client, Signal signal);

    @Override
    void close();
}
