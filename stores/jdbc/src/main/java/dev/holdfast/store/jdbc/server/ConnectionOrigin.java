package dev.holdfast.store.jdbc.server;

/** Where a store's connections come from, and so what it may do with them. */
public enum ConnectionOrigin {
    /** A pool lends them for one round trip. */
    POOL,

    /** They belong to the store alone, and stay open. */
    OWN,

    /** They stay open, but a pooler may run each transaction in another server session. */
    POOLER;

    /** Whether others use the same server session, so that its settings must be restored. */
    public boolean isLent() {
        return this != OWN;
    }

    /** Whether waiting callers may make round trips: a pool or a pooler may block them for any time. */
    public boolean callersRun() {
        return this == OWN;
    }
}
