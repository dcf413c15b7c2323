package dev.holdfast.store.jdbc.server;

/** How long a statement waits for a row that another transaction has locked. */
public enum LockWait {
    /**
     * For connections that all names share: longer than transactions of others usually take, but short enough for the
     * commands behind it, and for the session, which such a statement may have locked before the row.
     */
    BRIEF,

    /**
     * Where no other command waits behind it: on an overloaded machine, transactions on a contended row may take
     * seconds.
     */
    PATIENT
}
