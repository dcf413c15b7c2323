package dev.holdfast.admin;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.admin.StoreAdmin;
import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The operator's view of a store: lists holders and waiters of all clients, and releases locks by force. A {@link
 * Holdfast} is one; {@link #of} makes one for a tool that holds nothing and needs no session.
 *
 * <pre>{@code
 * LockInfo info = holdfast.inspect("nightly-report").orElseThrow();
 * LockInfo.Holder holder = info.holders().get(0);
 * holdfast.forceRelease("nightly-report", holder.token()); // this hold, and no later one
 * }</pre>
 *
 * <p>Results show the state at one moment between the call and its return, and may be outdated when they are read.
 *
 * <p><b>Blocking:</b> a method that returns no stage waits until the store has answered, for at most the store
 * time-out for each page. <b>Interruption:</b> has no effect, and the flag stays set. <b>Thread-safety:</b> all methods
 * may be called from any thread.
 */
public interface LockAdmin {

    /**
     * The operator's view of an open store, without a client: opens no session and starts no threads. The
     * caller still closes the store; stages complete on the common pool.
     *
     * @param timeout how long the store may take to answer
     * @throws IllegalArgumentException if {@code timeout} is not positive
     */
    static LockAdmin of(LockStore store, Duration timeout) {
        return StoreAdmin.of(store, Durations.positive("timeout", timeout));
    }

    /**
     * Returns what the store records about one name, with all of its holders.
     *
     * @return empty if the name is not in use and the store remembers nothing of it
     * @throws IllegalArgumentException if the name is not 1 to 512 bytes of UTF-8, or is blank
     * @throws StoreUnavailableException if the store did not answer
     * @throws StoreRefusedException if the store can't be used, or its record of the name is damaged
     * @throws ClientClosedException if the client was closed
     */
    Optional<LockInfo> inspect(String name);

    /** As {@link #inspect(String)}, without blocking: failures of the store complete the stage. */
    CompletionStage<Optional<LockInfo>> inspectAsync(String name);

    /**
     * Returns a page of what the store records. Names that are in use from the first page to the last are listed once,
     * even if others come and go, and in the order of their bytes if the store keeps one. Names of which only a token
     * counter is left may be listed too. A name whose record is damaged is listed {@linkplain LockPage#damaged() as
     * such}, and does not affect others.
     *
     * @throws StoreUnavailableException if the store did not answer
     * @throws StoreRefusedException if the store can't be used, or is damaged as a whole
     * @throws ClientClosedException if the client was closed
     */
    LockPage inspect(LockQuery query);

    /** As {@link #inspect(LockQuery)}, without blocking: failures of the store complete the stage. */
    CompletionStage<LockPage> inspectAsync(LockQuery query);

    /**
     * Returns the last runs of a {@linkplain dev.holdfast.task.ScheduledTaskLock scheduled task}, newest first: at most
     * ten. A run that has not ended is not among them; {@link #inspect(String)} shows it as a holder. Runs of clients
     * of earlier versions were not recorded.
     *
     * @return empty if none was recorded, or the store does not keep them
     * @throws IllegalArgumentException if the name is not of the form that {@link #inspect(String)} requires
     * @throws StoreUnavailableException if the store did not answer
     * @throws StoreRefusedException if the store can't be used, or its record of the name is damaged
     * @throws ClientClosedException if the client was closed
     */
    List<RecordedRun> runs(String task);

    /** As {@link #runs}, without blocking: failures of the store complete the stage. */
    CompletionStage<List<RecordedRun>> runsAsync(String task);

    /**
     * Ends the hold with a token, of any client, and admits waiters. Its holder is notified of a loss with the cause
     * {@link Loss.Cause#REMOVED}, but its code keeps running until it reacts, and keeps writing unless the system it
     * writes to checks the token: this is a last resort.
     *
     * @param token the {@linkplain LockInfo.Holder#token() token of the hold}; a later hold has another token and is
     *     not affected
     * @return whether that hold existed and was ended by this call
     * @throws IllegalArgumentException if the name is not of the form that {@link #inspect(String)} requires, or the
     *     token is not positive
     * @throws StoreUnavailableException if the store did not answer: whether the hold was ended is unknown, and the
     *     call may be repeated
     * @throws StoreRefusedException if the store can't be used, or its record of the name is damaged
     * @throws ClientClosedException if the client was closed
     */
    @CanIgnoreReturnValue
    boolean forceRelease(String name, long token);

    /** As {@link #forceRelease}, without blocking: failures of the store complete the stage. */
    CompletionStage<Boolean> forceReleaseAsync(String name, long token);
}
