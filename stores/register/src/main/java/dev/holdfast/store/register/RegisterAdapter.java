package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The server below a register store: it reads records, writes them under conditions, and knows which sessions live. It
 * decides nothing about locks.
 *
 * <p><b>What every adapter keeps:</b>
 *
 * <ul>
 *   <li>A read is linearizable: it sees every write that was acknowledged before it was asked, through any connection.
 *   <li>A {@link #write} is one atomic step, with all its comparisons.
 *   <li>No request is sent twice. A stage ends exceptionally only with a {@link StoreException}, whose effect is {@link
 *       StoreException.Effect#NONE} only if the request was not sent, or the server says that it did nothing.
 *   <li>Once {@link #raiseEpoch} was acknowledged, no write under a lower epoch takes effect, however late it arrives.
 *   <li>A session ends no earlier than its ttl after the last acknowledged {@link #keepAlive} was sent, less the
 *       granularity that the traits state. Its end is final: no id is used again.
 *   <li>Its mailbox and its index entries end with it, in the same step or before it counts as gone.
 * </ul>
 *
 * <p>Writes of one resource are given one at a time, those of different resources at once and in no order.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks.
 */
public interface RegisterAdapter extends AutoCloseable {

    /** The largest state in bytes that the server takes along with the rest of a write. Constant; does no I/O. */
    int maxStateBytes();

    /** Sets who is told what the server pushes. Called once, before anything is asked. */
    void listen(RegisterListener listener);

    /** Reads the record of a resource. */
    CompletionStage<RegisterRecord> read(ResourceName resource);

    /** Writes under conditions. */
    CompletionStage<WriteResult> write(ConditionalWrite write);

    /**
     * Opens a session of epoch 0, with a mailbox that is watched.
     *
     * @param label who the client says it is, for people
     */
    CompletionStage<SessionId> openSession(Duration ttl, String label);

    /**
     * Renews a session whose epoch is the given one. Answers the epoch that the session has: a higher one means that
     * nothing was renewed. Empty where the session has ended.
     */
    CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch);

    /** Raises the epoch of a session, unless it is as high. Answers the epoch it then has; empty if it has ended. */
    CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch);

    /** Ends a session; idempotent. Its claims stay in their records until a step finds that it is gone. */
    CompletionStage<Void> closeSession(SessionId session);

    /**
     * Reads which of some sessions have ended, of this client or others.
     *
     * @return those of them that live no more
     */
    CompletionStage<Set<SessionId>> gone(Set<SessionId> sessions);

    /**
     * Sets which foreign sessions are watched, in place of those before; each has one watch, whoever needs it. That one
     * of them has ended already is told too.
     */
    void watch(Set<SessionId> sessions);

    /** Reads the index: the claims of a session. An entry may outlast its claim; no claim is without one. */
    CompletionStage<List<ClaimRef>> claims(SessionId session);

    /**
     * Lists the resources that have a record, in an order of the server's own.
     *
     * @param prefix only names that begin so; empty for all
     * @param after where the page before ended; empty for the first
     * @param limit the size of a page at most
     */
    CompletionStage<List<ResourceName>> list(String prefix, Optional<ResourceName> after, int limit);

    /** Ends the connections and threads of this adapter; sessions stay. Idempotent. */
    @Override
    void close();
}
