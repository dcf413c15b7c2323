package dev.holdfast.testkit.sim;

/**
 * Situations that a good set of seeds must reach: a check that never applied shows nothing. Counted over all runs;
 * {@link Seeds} fails a full set that misses one.
 */
public enum CoveragePoint {
    /** A hold was lost while requests of the same process waited for the resource. */
    LOST_WITH_LOCAL_QUEUE,
    /** A keep-alive was acknowledged so late that the deadline had passed. */
    RENEWAL_ANSWERED_TOO_LATE,
    /** The store had granted a claim that was no longer wanted, and it was released. */
    LATE_GRANT_UNDONE,
    /** A hold was released after its deadline while others of the process waited: it could not be handed over. */
    HAND_OFF_REFUSED_BY_DEADLINE,
    /** A hold was handed over within the process. */
    HANDED_ON,
    /** A grant had spent its tokens and asked for more. */
    BLOCK_SPENT,
    /** A process yielded to waiters at the store, and took its place behind them in the same step. */
    YIELDED,
    /** The outcome of a yield was unknown at first, and known in the end. */
    YIELD_SETTLED,
    /** The outcome of a claim was unknown, and it was repeated. */
    CLAIM_REPEATED,
    /** A claim reached the store after it had ended, and was rejected as stale. */
    STALE_AFTER_END,
    /** A claim reached the store after its session had ended. */
    CLAIM_AFTER_SESSION,
    /** A client abandoned its session, and was granted a lock under the next one. */
    RECOVERED_AFTER_ABANDONMENT,
    /** A step of a wall clock put a hold in doubt, and the store then confirmed it. */
    DOUBT_CLEARED,
    /** A step of a wall clock put a hold in doubt, and it was lost. */
    DOUBT_ENDED_IN_LOSS,
    /** A hold was found lost in the first check after a pause. */
    LOST_WHILE_STOPPED,
    /** A guarded resource rejected a stale write, which would have corrupted it without the token. */
    STALE_WRITE_REFUSED,
    /** A write was made by a process that had been stopped between the check and the write. */
    STOPPED_BETWEEN_CHECK_AND_WRITE,
    /** A release was not confirmed in time. */
    RELEASE_UNCONFIRMED,
    /** A release reported that the hold had been lost. */
    RELEASE_AFTER_LOSS,
    /** A fixed lease was extended. */
    EXTENDED,
    /** An extension was not answered in time. */
    EXTENSION_UNKNOWN,
    /** A fixed lease expired while its owner continued. */
    LEASE_RAN_OUT,
    /** A request was cancelled after it had been sent to the store. */
    CANCELLED,
    /** A request timed out. */
    TIMED_OUT,
    /** A try was rejected. */
    TRY_REFUSED,
    /** A request failed because the store did not reply. */
    STORE_UNAVAILABLE,
    /** A client was closed while it held a lock. */
    CLOSED_WHILE_HOLDING,
    /** A client was closed while it waited. */
    CLOSED_WHILE_WAITING,
    /** A process died while it held a lock. */
    DIED_HOLDING,
    /** An expired waiter was skipped. */
    DEAD_WAITER_SKIPPED,
    /** A signal that a claim was granted was lost. */
    GRANT_SIGNAL_LOST,
    /** A signal about a claim came after the claim had ended. */
    SIGNAL_AFTER_END,
    /** A grant was released by force. */
    REMOVED_BY_FORCE,
    /** The store lost its data, and its tokens continued from the clock. */
    TOKENS_FROM_THE_FLOOR,
    /** The store's clock was stepped back while a lock was held. */
    STORE_CLOCK_BACK,
    /** With strict order, a lock was handed over within a process while nothing was disturbed. */
    HANDED_OVER_IN_ORDER,
    /** With strict order, a request was served that had waited when the claim was sent, after another one. */
    SERVED_IN_BATCH,
    /** A hold began under a grant that was shared, or had been a writer's. */
    SHARED,
    /** A writer downgraded, and let others read. */
    DOWNGRADED,
    /** Part of a grant was released. */
    SHRUNK,
    /** A command to release part of a grant arrived twice. */
    SHRUNK_AGAIN,
    /** Several resources were acquired at once. */
    SEVERAL_AT_ONCE,
    /** A detached grant lasted longer than its session. */
    OUTLIVED_ITS_SESSION,
    /** Permits were released by their id. */
    RELEASED_BY_ID,
    /** A release by id found that the permits had ended. */
    RELEASED_BY_ID_TOO_LATE,
    /** A request for more permits than there are was rejected. */
    TOO_HEAVY,
    /** A resize left too few permits for a waiting claim. */
    WAITER_TOO_HEAVY,
    /** A waiter passed when the latch opened. */
    LATCH_OPENED,
    /** A caller passed an open latch at once. */
    LATCH_WAS_OPEN,
    /** A caller tried to set a latch that was counting. */
    LATCH_SET_ALREADY,
    /** A count-down arrived twice. */
    COUNTED_AGAIN,
    /** A count-down arrived after another generation had begun. */
    COUNTED_TOO_LATE,
    /** A candidate was elected. */
    ELECTED,
    /** A leader lost its term. */
    TERM_LOST,
    /** A candidate threw in its election. */
    CANDIDATE_FAILED,
    /** A partition of the store failed; only where it has several. */
    PART_FAILED,
    /** A client ended the session of a partition that it no longer used; only where there are several. */
    SESSION_RESTED
}
