package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The resource that made a claim: decides what follows from each answer of the store. All methods but {@link #expired}
 * are called under {@link #guard()}; what leaves the resource goes to the deferred actions.
 */
public interface ClaimListener {

    /** The lock that guards the claims of the resource. */
    ReentrantLock guard();

    ResourceName resourceName();

    ResourceSpec spec();

    /**
     * The store has granted a claim, or has confirmed its grant.
     *
     * @param sentAt when the request was sent to which it replied; without meaning for a grant that it notified of,
     *     which confirms none
     */
    void granted(Claim claim, Reply.Granted reply, long sentAt, DeferredActions deferred);

    /** A claim waits in the store's queue. */
    void queued(Claim claim, DeferredActions deferred);

    /**
     * A claim was not granted: requests that wait for it end.
     *
     * @param detail what the store said about the holders, for people; null if it said nothing
     * @param why the failure; null if others have or want the resource, which is not a failure
     */
    void notGranted(
            Claim claim,
            Claim.Denial denial,
            @Nullable String detail,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred);

    /** The store does not know a claim. */
    void vanished(Claim claim, DeferredActions deferred);

    /** The store has answered a request for more tokens; null if it has no more. */
    void advanced(Claim claim, Reply.@Nullable Advanced reply, DeferredActions deferred);

    /** A dead claim can no longer have an effect that is unknown: it is withdrawn. */
    void withdraw(Claim dead, DeferredActions deferred);

    /** A poll of one granted claim has failed. */
    void pollFailed(Claim claim);

    /** Does what the present state requires, after anything has changed. */
    void proceed(DeferredActions deferred);

    /** The client has found that a grant has ended. Called without the lock. */
    void expired(Claim claim, Loss.Cause cause);
}
