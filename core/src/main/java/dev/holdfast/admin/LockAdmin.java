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
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The operator's view of a store: tells who holds and who waits, whoever they are, and takes a lock away by force. A
 * {@link Holdfast} is one; {@link #of} makes one for a tool that holds nothing and needs no session.
 *
 * <pre>{@code
 * LockInfo info = holdfast.inspect("nightly-report").orElseThrow();
 * LockInfo.Holder holder = info.holders().get(0);
 * holdfast.forceRelease("nightly-report", holder.token()); // this hold, and no later one
 * }</pre>
 *
 * <p>What is told is the state at one moment between the call and its return: it may be past when it is read.
 *
 * <p><b>Blocking:</b> a method that returns no stage waits until the store has answered, for at most the store
 * time-out for each page. <b>Interruption:</b> has no effect, and the flag stays set. <b>Thread-safety:</b> all methods
 * may be called from any thread.
 */
public interface LockAdmin {

    /**
     * The operator's view of an open store, without a client: opens no session and starts no thread of its own. The
     * store stays the caller's to close; stages complete on the common pool.
     *
     * @param timeout how long the store may take to answer
     * @throws IllegalArgumentException if {@code timeout} is not positive
     */
    static LockAdmin of(LockStore store, Duration timeout) {
        return StoreAdmin.of(store, Durations.positive("timeout", timeout));
    }

    /**
     * Tells what the store records about one lock, permits, latch or any other name, with all who hold it.
     *
     * @return empty if nobody holds it or waits for it and the store keeps nothing of it
     * @throws IllegalArgumentException if the name is not 1 to 512 bytes of UTF-8, or is blank
     * @throws StoreUnavailableException if the store did not answer
     * @throws StoreRefusedException if the store can't be used, or its record of the name is damaged
     * @throws ClientClosedException if the client was closed
     */
    Optional<LockInfo> inspect(String name);

    /** As {@link #inspect(String)}, without blocking: the stage ends with what the store is to blame for. */
    CompletionStage<Optional<LockInfo>> inspectAsync(String name);

    /**
     * Tells a page of what the store records. Names that are in use from the first page to the last are told once,
     * whatever comes and goes between them, and in the order of their bytes where the store keeps one. Names of which
     * only a token counter is left may be among them. A name whose record is damaged is told {@linkplain
     * LockPage#damaged() as such}, beside all others.
     *
     * @throws StoreUnavailableException if the store did not answer
     * @throws StoreRefusedException if the store can't be used, or is damaged as a whole
     * @throws ClientClosedException if the client was closed
     */
    LockPage inspect(LockQuery query);

    /** As {@link #inspect(LockQuery)}, without blocking: the stage ends with what the store is to blame for. */
    CompletionStage<LockPage> inspectAsync(LockQuery query);

    /**
     * Ends the hold that has a token, whoever has it, and admits those who wait. Its holder is told, as a loss with the
     * cause {@link Loss.Cause#REMOVED}, but its code runs on until it looks, and writes on unless what it writes to
     * checks the token: this is a last resort.
     *
     * @param token the token of the hold as it was {@linkplain LockInfo.Holder#token() told}; a hold that came later
     *     has another, and is left alone
     * @return whether that hold was there, and was ended by this call
     * @throws IllegalArgumentException if the name is not of the form that {@link #inspect(String)} asks for, or the
     *     token is not positive
     * @throws StoreUnavailableException if the store did not answer: whether the hold was ended is unknown, and the
     *     call may be repeated
     * @throws StoreRefusedException if the store can't be used, or its record of the name is damaged
     * @throws ClientClosedException if the client was closed
     */
    @CanIgnoreReturnValue
    boolean forceRelease(String name, long token);

    /** As {@link #forceRelease}, without blocking: the stage ends with what the store is to blame for. */
    CompletionStage<Boolean> forceReleaseAsync(String name, long token);
}
