package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;
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
 * <p><b>What every adapter guarantees:</b>
 *
 * <ul>
 *   <li>A read is linearizable: it sees every write that was acknowledged before it was asked, through any connection.
 *       That holds for records, for sessions and for the index.
 *   <li>A {@link #write} is one atomic step, with all its comparisons. Where several of these fail, it reports all,
 *       but need not report the sessions if the record has changed.
 *   <li>No request but the end of a session is sent twice, unless the server said that the first had no effect. A
 *       stage ends exceptionally only with a {@link StoreException}, whose effect is {@link StoreException.Effect#NONE}
 *       only if the request was not sent, or the server says that it did nothing. Every stage ends, after a time-out of
 *       the adapter's at the latest.
 *   <li>Once {@link #raiseEpoch} was acknowledged, no write under a lower epoch takes effect, however late it arrives.
 *   <li>A session ends no earlier than its ttl after the last acknowledged {@link #keepAlive} was sent, less the
 *       granularity that the traits state. Its end is final: no id is used again. Without a renewal it ends by itself,
 *       also while this client lives.
 *   <li>Its mailbox and its index entries end with it, in the same step or before it counts as gone; its arrivals may
 *       stay for a while, but no write can execute them.
 * </ul>
 *
 * <p>The store makes one write of a resource at a time, and writes of different resources at the same time.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks but {@link #close}.
 */
public interface RegisterAdapter extends AutoCloseable {

    /** What the server can do. Does no I/O. */
    RegisterTraits traits();

    /** Sets the listener for what the server pushes. Called once, before any request. */
    void listen(RegisterListener listener);

    /**
     * Bounds of the server's wall clock at this moment, which the adapter knows before a store gets it; {@link
     * ServerTime#NONE} with {@link RegisterTraits.Clock#REVISIONS}. The clock is between them, however late the answer
     * was that they come from. Does no I/O.
     */
    ServerTime time();

    /**
     * A guess of a record that this client does not know, most often that there is none. A write on a wrong guess is a
     * conflict. Empty where a read costs less than a failed write. Does no I/O.
     */
    Optional<RegisterRecord> guess(ResourceName resource);

    /**
     * Reads a record in the cheapest way, only to write on it. It may be outdated; a write on it is a conflict then.
     * Empty where a conflict on a wrong {@link #guess} costs hardly more than a read.
     */
    default Optional<CompletionStage<RegisterRecord>> peek(ResourceName resource) {
        return Optional.empty();
    }

    /** Reads the record of a resource. */
    CompletionStage<RegisterRecord> read(ResourceName resource);

    /** Writes under conditions. */
    CompletionStage<WriteResult> write(ConditionalWrite write);

    /**
     * As {@link #write(ConditionalWrite)}, on a thread that waits for the result. With {@link
     * RegisterTraits#callerRuns}, the adapter may make the round trip on it and return a completed stage, which saves
     * switching threads. An interrupt has no effect and stays pending.
     *
     * @param mayBlockFor the longest time for which it may block
     */
    default CompletionStage<WriteResult> write(ConditionalWrite write, Duration mayBlockFor) {
        return write(write);
    }

    /**
     * Announces a claim next to the record of its resource, without a condition on that. Clients that arrive at the
     * same time would fail each other's writes; so one of them adds all announced claims to the record. The arrival
     * stays until a {@link ConditionalWrite} removes it, it is {@linkplain #retract retracted}, or its session has
     * ended.
     *
     * @param mail mail that is put into the mailboxes of other sessions in the same step. If one of them has ended, the
     *     adapter may put none. The version that it is delivered with means nothing
     * @return the epoch of the session: nothing was announced if it is above that of the arrival; empty if the session
     *     has ended
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
     * @param label a description of the client, for people
     */
    CompletionStage<OpenedSession> openSession(Duration ttl, String label);

    /**
     * Opens a lease without renewals. It is watched, reported as gone and closed like a session, but has no mailbox and
     * no index, and does not end with a session. Called only with {@link RegisterTraits.Clock#REVISIONS}.
     */
    CompletionStage<OpenedSession> openLease(Duration length);

    /**
     * Renews a session that has the given epoch.
     *
     * @param responseTimeout the time after which the client sends another one, which must not wait behind a connection
     *     that has been silent for that long
     * @return the epoch of the session: nothing was renewed if it is a higher one; empty if the session has ended
     */
    CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout);

    /** Raises the epoch of a session unless it is as high, and returns the resulting one; empty if it has ended. */
    CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch);

    /** Ends a session or a lease; idempotent. Its claims stay in their records until a step finds that it is gone. */
    CompletionStage<Void> closeSession(SessionId session);

    /**
     * Reads which of some sessions and leases live, of this client or others.
     *
     * @return the living ones; for a lease, a record without a label
     */
    CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> sessions);

    /**
     * Reads the remaining times of sessions and leases without a renewal, or lower bounds of them.
     *
     * @return the remaining times of the living ones
     */
    CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions);

    /**
     * Replaces the set of watched sessions and leases of others. The listener is also notified of those that have ended
     * already. The sessions that this client opened are always watched.
     */
    void watchSessions(Set<SessionId> sessions);

    /**
     * Reads a page of the index of a session: its claims, as of the request or later. An entry that exists from the
     * first page to the last is on one of them, even if others change in that time. A page costs a constant number of
     * requests, however many entries it and the other pages have.
     *
     * @param cursor the end of the previous page; empty for the first
     * @param limit the maximum size of a page
     * @return empty where the session has ended
     */
    CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit);

    /**
     * Replaces the annotation of a claim of a session that this client opened, if the number is greater than the
     * last one. It is kept apart from the record, without a condition on that, until it is {@linkplain #dropAnnotation
     * dropped} or the session has ended, at the latest with this client.
     *
     * @return false if the session has ended
     */
    CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text);

    /** Drops the annotation of a claim, if there is one. */
    CompletionStage<Void> dropAnnotation(ClaimRef claim);

    /** Reads the annotations of some claims; of those without one there is no entry. */
    CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims);

    /** Reads the history of a resource. */
    CompletionStage<History> history(ResourceName resource);

    /**
     * Replaces the history of a resource, if it is still the expected one.
     *
     * @return false if it has changed
     */
    CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content);

    /**
     * Lists the resources that have a record.
     *
     * @param prefix the beginning of the names; empty for all
     * @param cursor the end of the previous page; empty for the first
     * @param limit the maximum size of a page
     */
    CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit);

    /**
     * Takes the turn to clean up, which one client of the server has at a time. If the server keeps anything of dead
     * clients, the adapter removes some of that with each turn.
     *
     * @param pause the time for which no other client gets the turn
     * @return the cursor that the previous turn left by {@link #endTurn}, at first an empty text; empty if another
     *     client has had the turn within that time
     */
    CompletionStage<Optional<String>> takeTurn(Duration pause);

    /** Stores the cursor at which the next turn to clean up begins. */
    CompletionStage<Void> endTurn(String cursor);

    /**
     * Ends the connections and threads of this adapter, and returns when they have ended. Pending requests fail.
     * Sessions stay until their ttl has passed. Idempotent.
     */
    @Override
    void close();
}
