package dev.holdfast.store.sqlite;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.ledger.StoreContext;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link Lane} makes its trips to a database that one writer has to itself.
 */
interface Dialect extends StoreContext, AutoCloseable {

    /** How long a trip waits for a database that others keep busy. */
    Duration patience();

    /**
     * Says why the database must not be used just now, or any more, before each trip and each new attempt.
     *
     * @throws DatabaseReplacedException if that ended our sessions
     * @throws StoreException with the effect {@link Effect#NONE}
     */
    void check() throws DatabaseReplacedException;

    /**
     * Carries out a command by a single statement that is its own transaction, or a part of the one that is under way.
     *
     * @return null if it can't be done so; then nothing was changed
     */
    @Nullable
    Reply quick(Command command) throws SQLException;

    /**
     * Those of the claims that wait as they did, by what can be told at once; the others are to be looked at. Not
     * within a transaction.
     */
    Map<ClaimRef, Reply.Queued> quiet(List<ClaimRef> claims) throws SQLException;

    /**
     * Begins a transaction that may write and has what locks it needs for that, or one that only reads, all in one
     * state.
     */
    void begin(boolean writing) throws SQLException;

    void commit() throws SQLException;

    /** Undoes the transaction, if there still is one. */
    void rollback();

    /** Whether the database is only busy: nothing was done, and it is worth another try within the same trip. */
    boolean isBusy(SQLException failure);

    /** Whether the disk is full: what was tried was undone, and it is worth another try after {@link #makeRoom}. */
    boolean isFull(SQLException failure);

    /** Makes room on a full disk, outside of a transaction. Returns whether there may be some. */
    boolean makeRoom();

    /** What a failure of a statement that is its own transaction says about its effect. */
    Effect effectOf(SQLException failure);

    /** A failure in the terms of the SPI, and in words for people. */
    StoreException translated(SQLException failure, Effect effect);

    @Override
    void close();
}
