package dev.holdfast.benchmarks.harness;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * A way to lock that is measured. To add a store or a peer, implement this once and name it in the cells of the
 * workloads that it can run.
 */
public interface Contestant {

    /** What the table calls it. */
    String title();

    /** Whether it is somebody else's: then it is told where it fails, and the run goes on. */
    default boolean isPeer() {
        return false;
    }

    /**
     * Connects one client.
     *
     * @param place a directory for what the clients of one cell share; clients of other processes are given the same
     */
    Client connect(Path place);

    /** One client: what one process has. */
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

        /** Sends the least that there is to the server and waits for the answer, on the same threads; if it can. */
        default Optional<Runnable> ping() {
            return Optional.empty();
        }

        /** What it has sent up to now without anybody asking for it, if it can tell. */
        default Housekeeping housekeeping() {
            return new Housekeeping(0, 0, 0);
        }

        @Override
        void close();
    }

    /**
     * What a client sends without anybody asking for it.
     *
     * @param keepAlives to keep what is held
     * @param polls to look after what waits
     * @param audits to see whether all is still there that it holds
     */
    record Housekeeping(long keepAlives, long polls, long audits) {

        public Housekeeping plus(Housekeeping other) {
            return new Housekeeping(keepAlives + other.keepAlives, polls + other.polls, audits + other.audits);
        }

        public Housekeeping since(Housekeeping before) {
            return new Housekeeping(keepAlives - before.keepAlives, polls - before.polls, audits - before.audits);
        }
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
