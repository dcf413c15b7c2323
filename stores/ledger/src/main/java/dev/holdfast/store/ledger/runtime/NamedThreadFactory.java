package dev.holdfast.store.ledger.runtime;

/** Factory of the threads of a store. */
@FunctionalInterface
public interface NamedThreadFactory {

    /** Creates daemon threads, which do not keep a program from ending. */
    NamedThreadFactory DAEMONS = (work, name) -> {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    };

    /** Creates a thread, which the caller starts. */
    Thread make(Runnable work, String name);
}
