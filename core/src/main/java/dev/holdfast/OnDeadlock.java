package dev.holdfast;

/** What a client does when threads wait for each other's locks in a circle, and would wait for ever. */
public enum OnDeadlock {
    /** Reports it: a warning in the log, listeners, a flight recording and meters. No wait is ended. */
    REPORT,
    /** Reports it, and ends the youngest wait, if it is this client's, with {@link LockDeadlockException}. */
    FAIL,
    /** Searches for none. */
    OFF
}
