package dev.holdfast.benchmarks.harness;

import java.nio.file.Path;
import java.util.function.Function;

/**
 * A kind of lock that is measured. To add a store or a peer, implement this once and name it in the cells of the
 * workloads that it can run.
 */
public interface Contestant {

    /** The name in the tables. */
    String title();

    /** Whether it is a lock of others: its failures are reported, and the run continues. */
    default boolean isPeer() {
        return false;
    }

    /**
     * Connects one client.
     *
     * @param place a directory for what the clients of one cell share; clients of other processes use the same one
     */
    Client connect(Path place);

    /** The client of one process. */
    interface Client extends AutoCloseable {

        /**
         * A client that makes its locks one by one.
         *
         * @param end closes what they use
         */
        static Client of(Function<String, Mutex> mutexes, Runnable end) {
            return new Client() {
                @Override
                public Mutex mutex(String name) {
                    return mutexes.apply(name);
                }

                @Override
                public void close() {
                    end.run();
                }
            };
        }

        /** The lock of a name, for the use of one thread. */
        Mutex mutex(String name);

        /** What the client has sent without being asked, if it counts that. */
        default Housekeeping housekeeping() {
            return Housekeeping.NONE;
        }

        @Override
        void close();
    }

    /**
     * Commands that a client sends without being asked.
     *
     * @param keepAlives to keep what is held
     * @param polls to check claims that wait
     * @param audits to compare what is held with the store
     */
    record Housekeeping(long keepAlives, long polls, long audits) {

        public static final Housekeeping NONE = new Housekeeping(0, 0, 0);

        public Housekeeping plus(Housekeeping other) {
            return new Housekeeping(keepAlives + other.keepAlives, polls + other.polls, audits + other.audits);
        }

        public Housekeeping since(Housekeeping before) {
            return new Housekeeping(keepAlives - before.keepAlives, polls - before.polls, audits - before.audits);
        }
    }

    /** A lock used by one thread. */
    interface Mutex {

        /** What {@link #acquire()} returns where there are no fencing tokens; never a token. */
        long NO_TOKEN = Long.MIN_VALUE;

        /** Waits for the lock; returns the fencing token. */
        long acquire() throws InterruptedException;

        void release();
    }
}
