package dev.holdfast.spi;

/** What the thread that submits a command does until the reply arrives. */
public enum CallerMode {
    /**
     * It waits and holds no lock: a store with blocking connections may use it for the round trip, which saves
     * switching to another thread and back.
     */
    BLOCKING,

    /** It does something else: the store must return at once. */
    ASYNC;

    /**
     * This mode, except that the present thread makes no round trip if it is virtual: blocking code of a driver may pin
     * its carrier.
     */
    public CallerMode unlessVirtual() {
        // All virtual threads are in one group with a specified name.
        return Thread.currentThread().getThreadGroup().getName().equals("VirtualThreads") ? ASYNC : this;
    }
}
