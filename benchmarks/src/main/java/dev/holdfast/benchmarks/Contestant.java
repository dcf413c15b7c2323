package dev.holdfast.benchmarks;

import java.nio.file.Path;

/**
 * A way to lock that is measured. To add a store or a peer, implement this once and name it in the cells of the
 * workloads that it can run.
 */
interface Contestant {

    /** What the table calls it. */
    String title();

    /**
     * Connects one client.
     *
     * @param place a directory for what the clients of one cell share; clients of other processes are given the same
     */
    Client connect(Path place);

    /** One client: what one process has. */
    interface Client extends AutoCloseable {

        /** The lock of a name, for the use of one thread. */
        Mutex mutex(String name);

        @Override
        void close();
    }

    /** A lock in the hands of one thread. */
    interface Mutex {

        /** What {@link #acquire()} answers where there are no fencing tokens; no token, nor a default of anything. */
        long NO_TOKEN = Long.MIN_VALUE;

        /** Waits for the lock; answers the fencing token. */
        long acquire() throws InterruptedException;

        void release();
    }
}
