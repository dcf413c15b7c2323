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

/** The operations of a {@link SqliteLane} on a database that one writer has to itself. */
interface Dialect extends StoreContext, AutoCloseable {

    /** How long a command waits for a busy database. */
    Duration busyTimeout();

    /**
     * Checks before each batch and each retry that the database may be used.
     *
     * @throws DatabaseReplacedException if it may not, and our sessions have ended
     * @throws StoreException with the effect {@link Effect#NONE}
     */
    void check() throws DatabaseReplacedException;

    /**
     * Executes a command with a single statement, in the active transaction or else as its own.
     *
     * @return null if this was not possible, with nothing changed
     */
    @Nullable
    Reply quick(Command command) throws SQLException;

    /**
     * The claims that are known to wait still, without reading all their rows; the others must be polled. Not within a
     * transaction.
     */
    Map<ClaimRef, Reply.Queued> quiet(List<ClaimRef> claims) throws SQLException;

    /** Begins a transaction that may write and has the locks for that, or one that only reads one snapshot. */
    void begin(boolean writing) throws SQLException;

    void commit() throws SQLException;

    /** Rolls back the transaction, if there still is one. */
    void rollback();

    /** Whether the database is only busy: nothing was done, and a retry is worthwhile. */
    boolean isBusy(SQLException failure);

    /** Whether the disk is full: the attempt was rolled back, and a retry is worthwhile after {@link #makeRoom}. */
    boolean isFull(SQLException failure);

    /** Makes room on a full disk, outside of a transaction. Returns whether there may be some. */
    boolean makeRoom();

    /** The effect of a failed statement that is its own transaction. */
    Effect effectOf(SQLException failure);

    /** The failure as an exception of the SPI, with a message for people. */
    StoreException translated(SQLException failure, Effect effect);

    @Override
    void close();
}
