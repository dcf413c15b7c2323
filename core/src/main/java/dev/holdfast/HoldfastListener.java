package dev.holdfast;

import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Receives the acquisitions of a client, the events of its sessions and its commands to the store: the basis of metrics
 * and traces.
 *
 * <p>Re-entrant acquisitions neither wait nor use the store, and are not reported.
 *
 * <p><b>Thread-safety:</b> called by many threads at a time; the events of each acquisition come in order. Methods are
 * called on the threads of the program, of the client or of the store, so they must be quick and must not block: a
 * renewal may wait for them. What they throw is logged and otherwise ignored, except an {@link AssertionError} of
 * {@link #onRequested}.
 */
@FunctionalInterface
public interface HoldfastListener {

    /**
     * An acquisition begins; called on the thread that requests it, before it waits.
     *
     * @return the listener for the rest of this acquisition, or null for none
     * @throws AssertionError to reject the request, in tests of how a program locks; it is thrown to the caller, unless
     *     the call is {@link AcquireRequest.Call#ASYNC}
     */
    @Nullable
    AcquisitionListener onRequested(AcquireRequest request);

    /** An event of a session. The events of one session come in order, unless two threads find one at the same time. */
    default void onSession(SessionEvent event) {}

    /**
     * Threads wait for each other's locks in a circle, one of this client among them. Called once by each client with a
     * member of the cycle, about two seconds after the last member began to wait. Runs where listeners for losses run,
     * so it may block; with {@link OnDeadlock#FAIL} the wait may have ended before.
     */
    default void onDeadlock(Deadlock deadlock) {}

    /**
     * A run of a {@linkplain Holdfast#task scheduled task} in this client has ended; called when its hold ends.
     *
     * @param task the name of the task
     * @param run the run, as it is recorded at the store, if the store keeps runs
     */
    default void onTaskRun(String task, RecordedRun run) {}

    /**
     * A command to the store has ended with a reply, a failure or a time-out. Called after the client has reacted. A
     * reply that comes too late is not reported again.
     */
    default void onStoreCall(StoreCall call) {}

    /**
     * An event of a session.
     *
     * @param type what has happened
     * @param store the kind of store, without a version: "PostgreSQL"
     * @param partition the partition of the store that it is a session of; 0 where there is only one
     * @param cause why it was lost; empty if it was not
     */
    record SessionEvent(Type type, String store, int partition, Optional<Loss.Cause> cause) {

        /** The events of a session. */
        public enum Type {
            /** The store has opened it. */
            OPENED,
            /** The store has acknowledged a keep-alive. */
            RENEWED,
            /** Its holds are in doubt: the machine may have been frozen, or the store has signalled its end. */
            IN_DOUBT,
            /** It is no longer in doubt: the store has acknowledged it since. */
            SETTLED,
            /** It is lost, with all of its holds, whose own listeners are notified. */
            LOST,
            /** The client has ended it: it is closed, or no longer uses the partition. */
            CLOSED
        }
    }

    /**
     * One command to the store.
     *
     * @param command the name of the command, in lower case: {@code acquire}, {@code keep-alive}, …, one of about
     *     twenty
     * @param store the kind of store, without a version: "PostgreSQL"
     * @param duration the time from when it was sent to when it ended
     * @param outcome how it ended
     */
    record StoreCall(String command, String store, Duration duration, Outcome outcome) {

        /** How a command can end. */
        public enum Outcome {
            /** The store replied; the reply may be a refusal. */
            ANSWERED,
            /** It failed: the store can't be reached, or can't be used. */
            FAILED,
            /** No reply came in time; the outcome is unknown until it is settled. */
            TIMED_OUT
        }
    }

    /**
     * The request of an acquisition.
     *
     * @param name the resource
     * @param kind what it is
     * @param weight how much is requested: permits of a semaphore; of a read-write lock 1 for a reader, all for a
     *     writer
     * @param store the kind of store, without a version: "PostgreSQL"
     * @param call how the program requests it
     */
    record AcquireRequest(String name, Kind kind, int weight, String store, Call call) {

        /** How a program requests a resource. */
        public enum Call {
            /** The calling thread waits only for the reply of the store, not for other holders. */
            TRY,
            /** The calling thread waits until others release the resource, or its maximum wait has passed. */
            BLOCKING,
            /** No thread waits, and the hold will belong to none. */
            ASYNC
        }
    }
}
