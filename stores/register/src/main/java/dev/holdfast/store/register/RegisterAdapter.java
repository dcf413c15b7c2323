package dev.holdfast.store.register;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Map;
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
 *       That holds for records, for sessions and for the index.
 *   <li>A {@link #write} is one atomic step, with all its comparisons. Where several of these fail, it reports all; of a
 *       record that has changed, it need not report the sessions.
 *   <li>No request but the end of a session is sent twice, unless the server said that the first had no effect. A
 *       stage ends exceptionally only with a {@link StoreException}, whose effect is {@link StoreException.Effect#NONE}
 *       only if the request was not sent, or the server says that it did nothing. Every stage ends, after a time-out of
 *       the adapter's at the latest.
 *   <li>Once {@link #raiseEpoch} was acknowledged, no write under a lower epoch takes effect, however late it arrives.
 *   <li>A session ends no earlier than its ttl after the last acknowledged {@link #keepAlive} was sent, less the
 *       granularity that the traits state. Its end is final: no id is used again. Without a renewal it ends by itself,
 *       also while this client lives.
 *   <li>Its mailbox and its index entries end with it, in the same step or before it counts as gone; its arrivals may
 *       stay for a while, and are taken in no more.
 * </ul>
 *
 * <p>Writes of one resource are given one at a time, those of different resources at once and in no order.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks but {@link #close}.
 */
public interface RegisterAdapter extends AutoCloseable {

    /** What the server can do. Does no I/O. */
    RegisterTraits traits();

    /** Sets who is told what the server pushes. Called once, before anything is asked. */
    void listen(RegisterListener listener);

    /**
     * The server's wall clock at this moment, as far as this adapter knows it, which it does before it is given to a
     * store; {@link ServerTime#NONE} with {@link RegisterTraits.Clock#REVISIONS}. It is between the bounds, however
     * late an answer was from which they were taken. Does no I/O.
     */
    ServerTime time();

    /**
     * What the record of a resource is likely to be that this client does not know: most often that there is none.
     * Written over, a wrong guess is a conflict. Empty where a read costs less than the write that fails. Does no I/O.
     */
    Optional<RegisterRecord> guess(ResourceName resource);

    /** Reads the record of a resource. */
    CompletionStage<RegisterRecord> read(ResourceName resource);

    /** Writes under conditions. */
    CompletionStage<WriteResult> write(ConditionalWrite write);

    /**
     * Puts a claim beside the record of its resource, whatever becomes of that: where many clients arrive at once, each
     * would fail the writes of the others, and so one takes them all in. It stays until a {@link ConditionalWrite}
     * takes it in, it is {@linkplain #retract retracted}, or its session has ended. Answers the epoch that the session
     * has: a higher one than that of the arrival means that nothing was put. Empty if the session has ended.
     *
     * @param mail what is put into the mailboxes of other sessions with it, unless one of them has ended: then none may
     *     be. The version that it is delivered with means nothing
     */
    CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail);

    /** Reads the arrivals at a resource, and its record at the same moment or later. */
    CompletionStage<Arrivals> arrivals(ResourceName resource);

    /** Removes an arrival if it is there; idempotent. */
    CompletionStage<Void> retract(Arrival arrival);

    /**
     * Opens a session of epoch 0, with a mailbox that is watched.
     *
     * @param ttl at most the longest one of the traits
     * @param label who the client says it is, for people
     */
    CompletionStage<OpenedSession> openSession(Duration ttl, String label);

    /**
     * Opens a lease that nobody renews, and that is watched, told as gone and closed like a session; it has neither
     * mailbox nor index, and no other session's end ends it. Called only with {@link RegisterTraits.Clock#REVISIONS}.
     */
    CompletionStage<OpenedSession> openLease(Duration length);

    /**
     * Renews a session whose epoch is the given one. Answers the epoch that the session has: a higher one means that
     * nothing was renewed. Empty where the session has ended.
     *
     * @param patience how long the client waits before it sends another; that one must not wait behind a connection
     *     that has been silent for so long
     */
    CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration patience);

    /** Raises the epoch of a session, unless it is as high. Answers the epoch it then has; empty if it has ended. */
    CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch);

    /** Ends a session or a lease; idempotent. Its claims stay in their records until a step finds that it is gone. */
    CompletionStage<Void> closeSession(SessionId session);

    /**
     * Reads which of some sessions and leases live, of this client or others.
     *
     * @return those of them that live; of a lease, a record without label
     */
    CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> sessions);

    /**
     * Reads what is left of sessions and leases without a renewal, never more than there is.
     *
     * @return those of them that live
     */
    CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions);

    /**
     * Sets which sessions and leases of others are watched, in place of those before; each has one watch, whoever needs
     * it. That one of them has ended already is told too. Those that this client opened are always watched.
     */
    void watch(Set<SessionId> sessions);

    /**
     * Reads a page of the index of a session: its claims, as of the request or later. An entry that is there from the
     * first page to the last is on one of them, whatever becomes of others meanwhile. A page costs a constant number of
     * requests, whatever the number of its entries and of those on other pages.
     *
     * @param cursor where the page before ended; empty for the first
     * @param limit the size of a page at most
     * @return empty where the session has ended
     */
    CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit);

    /**
     * Lists the resources that have a record.
     *
     * @param prefix only names that begin so; empty for all
     * @param cursor where the page before ended; empty for the first
     * @param limit the size of a page at most
     */
    CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit);

    /**
     * Takes the turn to clean up, which one client of the server has at a time. An adapter whose server keeps something
     * of a client that died removes some of that with each turn.
     *
     * @param pause the time for which nobody else is given the turn, and after which it goes to whoever asks
     * @return what the turn before left by {@link #endTurn}, at first an empty text; empty if another client has had
     *     the turn within that time
     */
    CompletionStage<Optional<String>> takeTurn(Duration pause);

    /** Leaves where the next turn to clean up begins. */
    CompletionStage<Void> endTurn(String cursor);

    /**
     * Ends the connections and threads of this adapter, and returns when they have ended; what is under way ends
     * exceptionally. Sessions stay until their ttl is over. Idempotent.
     */
    @Override
    void close();
}
