package dev.holdfast.testkit.sim;

/**
 * Situations that a good set of seeds must have led to: a check that was never put to the test says nothing. Counted
 * over all runs; {@link Seeds} fails a full set in which one was never reached.
 */
public enum Reach {
    /** A hold was lost while requests of the same process waited for the resource. */
    LOST_WITH_LOCAL_QUEUE,
    /** A keep-alive was acknowledged so late that the deadline had passed. */
    RENEWAL_ANSWERED_TOO_LATE,
    /** The store had granted a claim for which nobody asked any more, and it was given back. */
    LATE_GRANT_UNDONE,
    /** A hold was given up past its deadline while others of the process waited: it could not be passed on. */
    HAND_OFF_REFUSED_BY_DEADLINE,
    /** A hold was passed on within the process. */
    HANDED_ON,
    /** A grant had spent its tokens and asked for more. */
    BLOCK_SPENT,
    /** A process gave way to those that waited at the store, and took its place behind them in the same step. */
    YIELDED,
    /** The outcome of a yield was unknown at first, and known in the end. */
    YIELD_SETTLED,
    /** The outcome of a claim was unknown, and it was asked for again. */
    CLAIM_REPEATED,
    /** A request to claim reached the store after the claim had ended, and was refused as stale. */
    STALE_AFTER_END,
    /** A request to claim reached the store after the session had ended. */
    CLAIM_AFTER_SESSION,
    /** A client gave its session up, and was granted a lock under the next one. */
    RECOVERED_AFTER_ABANDONMENT,
    /** A step of a wall clock put a hold in doubt, and the store then confirmed it. */
    DOUBT_CLEARED,
    /** A step of a wall clock put a hold in doubt, and it was lost. */
    DOUBT_ENDED_IN_LOSS,
    /** A hold was found lost in the first look after a pause. */
    LOST_WHILE_STOPPED,
    /** A guarded resource refused a stale write: without the token it would have been harmed. */
    STALE_WRITE_REFUSED,
    /** A write was made by a process that had been stopped between the check and the write. */
    STOPPED_BETWEEN_CHECK_AND_WRITE,
    /** A release was not confirmed in time. */
    RELEASE_UNCONFIRMED,
    /** A release said that the hold had been lost. */
    RELEASE_AFTER_LOSS,
    /** A fixed lease was extended. */
    EXTENDED,
    /** An extension was not answered in time. */
    EXTENSION_UNKNOWN,
    /** A fixed lease ran out while its owner went on. */
    LEASE_RAN_OUT,
    /** A request was cancelled after the store had been asked. */
    CANCELLED,
    /** A request waited for its longest, and was refused. */
    TIMED_OUT,
    /** A request that does not wait was refused. */
    TRY_REFUSED,
    /** A request failed because the store was silent. */
    STORE_UNAVAILABLE,
    /** A client was closed while it held a lock. */
    CLOSED_WHILE_HOLDING,
    /** A client was closed while it waited. */
    CLOSED_WHILE_WAITING,
    /** A process died while it held a lock. */
    DIED_HOLDING,
    /** A dead waiter was passed over. */
    DEAD_WAITER_SKIPPED,
    /** A signal that a claim was granted was lost. */
    GRANT_SIGNAL_LOST,
    /** A signal about a claim came after the claim had ended. */
    SIGNAL_AFTER_END,
    /** A grant was taken away by force. */
    REMOVED_BY_FORCE,
    /** The store came back without its data, and its tokens went on from the clock. */
    TOKENS_FROM_THE_FLOOR,
    /** The store's clock was stepped back while a lock was held. */
    STORE_CLOCK_BACK,
    /** A hold began under a grant that was shared, or had been a writer's. */
    SHARED,
    /** A writer let others read beside it. */
    DOWNGRADED,
    /** Part of a grant was given back. */
    SHRUNK,
    /** A command to give back part of a grant came twice. */
    SHRUNK_AGAIN,
    /** Several resources were taken together. */
    SEVERAL_AT_ONCE,
    /** A detached grant lasted longer than its session. */
    OUTLIVED_ITS_SESSION,
    /** Permits were given back by their id. */
    RELEASED_BY_ID,
    /** Permits were to be given back by their id, but had ended. */
    RELEASED_BY_ID_TOO_LATE,
    /** A request for more permits than there were left was refused. */
    TOO_HEAVY,
    /** Permits were taken away, and a claim that waited could never be granted. */
    WAITER_TOO_HEAVY,
    /** Who waited for a latch passed when it opened. */
    LATCH_OPENED,
    /** Who came to an open latch passed at once. */
    LATCH_WAS_OPEN,
    /** A latch was to be set that was counting. */
    LATCH_SET_ALREADY,
    /** A count-down came twice. */
    COUNTED_AGAIN,
    /** A count-down came when another generation had begun. */
    COUNTED_TOO_LATE,
    /** A candidate was elected. */
    ELECTED,
    /** A leader lost its term. */
    TERM_LOST,
    /** A candidate threw when it was elected. */
    CANDIDATE_FAILED,
    /** A part of the store failed; only where it has several. */
    PART_FAILED,
    /** A client ended a session of a part that it did not use any more; only there. */
    SESSION_RESTED
}
