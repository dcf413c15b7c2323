package dev.holdfast.spi;

/** What the thread that submits a command does until the reply arrives. */
public enum CallerMode {
    /**
     * It waits and holds no lock: a store with blocking connections may use it for the round trip, which saves
     * switching to another thread and back.
     */
    BLOCKING,

    /** It does something else: the store must return at once. */
    ASYNC
}
