package dev.holdfast.store.jdbc.server;

/** How long a statement waits for a row that another transaction has locked. */
public enum LockWait {
    /**
     * On what all names share: longer than steps of others usually take, and short enough for those who wait behind it,
     * and for the session, which such a statement may have locked before the row.
     */
    BRIEF,

    /**
     * Where nobody waits behind it: on a starved machine, steps of others may take seconds for a row that many want.
     */
    PATIENT
}
