package dev.holdfast.spi;

/** What the thread that gives a command to a store does next. */
public enum Caller {
    /**
     * It has nothing to do until the reply is there, and it holds no lock: a store of blocking connections may use it
     * for the trip, which spares a hand-over to another thread and back.
     */
    WAITS,

    /** It goes on: the store must return at once. */
    GOES_ON
}
