package dev.holdfast.store.sql;

/** Where the threads of a store come from. */
@FunctionalInterface
interface Threads {

    /** Threads that keep no program from ending. */
    Threads DAEMONS = (work, name) -> {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    };

    /** Makes a thread, which is started by who asked for it. */
    Thread make(Runnable work, String name);
}
