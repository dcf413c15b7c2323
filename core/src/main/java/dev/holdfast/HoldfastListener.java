package dev.holdfast;

import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Receives the acquisitions of a client, what becomes of its session, and its round trips to the store: the ground for
 * metrics and traces.
 *
 * <p>Re-entrant acquisitions cost no wait and no store, and are not reported.
 *
 * <p><b>Thread-safety:</b> called by many threads at a time, each acquisition in its order. Methods are called on the
 * threads of the program, of the client or of the store, so they must be quick and must not block: a renewal may wait
 * for them. What they throw is logged and does no harm.
 */
@FunctionalInterface
public interface HoldfastListener {

    /**
     * An acquisition begins; called on the thread that requests it, before it waits.
     *
     * @return the listener for the rest of this acquisition, or null if nobody needs to know
     */
    @Nullable
    AcquisitionListener onRequested(AcquireRequest request);

    /** Something became of the session: of one session, in its order, but for events that two threads find at once. */
    default void onSession(SessionEvent event) {}

    /**
     * A command to the store has ended: with an answer, a failure, or no answer in time. Called after the client has
     * reacted. An answer that comes too late is not reported again.
     */
    default void onStoreCall(StoreCall call) {}

    /**
     * What becomes of a session.
     *
     * @param type what has happened
     * @param store the kind of store, without a version: "PostgreSQL"
     * @param partition the partition of the store that it is a session of; 0 where there is only one
     * @param cause why it was lost; empty if it was not
     */
    record SessionEvent(Type type, String store, int partition, Optional<Loss.Cause> cause) {

        /** What can become of a session. */
        public enum Type {
            /** The store has opened it. */
            OPENED,
            /** The store has acknowledged a keep-alive. */
            RENEWED,
            /** Its holds are in doubt: the machine may have been frozen, or the store has signalled its end. */
            IN_DOUBT,
            /** The doubt is over: the store has acknowledged it since. */
            SETTLED,
            /** It is lost, with all holds that hang on it. Each of them is told to its own listeners. */
            LOST,
            /** The client has ended it: it is closed, or uses nothing of the partition any more. */
            CLOSED
        }
    }

    /**
     * One command to the store.
     *
     * @param command what was asked, in lower case: {@code acquire}, {@code keep-alive}, …, one of about twenty
     * @param store the kind of store, without a version: "PostgreSQL"
     * @param duration the time from when it was sent to when it ended
     * @param outcome how it ended
     */
    record StoreCall(String command, String store, Duration duration, Outcome outcome) {

        /** How a command can end. */
        public enum Outcome {
            /** The store answered; its answer may be a refusal. */
            ANSWERED,
            /** It failed: the store can't be reached, or can't be used. */
            FAILED,
            /** No answer came in time; its outcome is unknown until it is settled. */
            TIMED_OUT
        }
    }

    /**
     * What an acquisition asks for.
     *
     * @param name the resource
     * @param kind what it is
     * @param weight how much of it: permits of a semaphore; of a read-write lock 1 for a reader, all for a writer
     * @param store the kind of store, without a version: "PostgreSQL"
     */
    record AcquireRequest(String name, Kind kind, int weight, String store) {}
}
