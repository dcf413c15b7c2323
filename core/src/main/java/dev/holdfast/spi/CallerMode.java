package dev.holdfast.spi;

/** What the thread that gives a command to a store does until the reply is there. */
public enum CallerMode {
    /**
     * It waits, and holds no lock: a store of blocking connections may use it for the round trip, which spares a
     * hand-over to another thread and back.
     */
    BLOCKING,

    /** It does something else: the store must return at once. */
    ASYNC
}
