package dev.holdfast.store.ledger.runtime;

/** Factory of the threads of a store. */
@FunctionalInterface
public interface NamedThreadFactory {

    /** Threads that keep no program from ending. */
    NamedThreadFactory DAEMONS = (work, name) -> {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    };

    /** Makes a thread, which is started by who asked for it. */
    Thread make(Runnable work, String name);
}
