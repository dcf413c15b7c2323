package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a local resource on its way to a grant, and what the store answers to it. Once it is granted, the rest of
 * this package knows it as a {@link LocalGrant}. Guarded by the lock of its resource, but for what is volatile.
 */
public final class LocalClaim extends LocalGrant {

    /** The grant that this claim replaces by a yield, until that is answered. */
    private @Nullable LocalGrant replaced;

    LocalClaim(
            LocalResource resource,
            ClaimRef ref,
            Session session,
            Lease lease,
            @Nullable Request bound,
            int weight,
            long newestServed) {
        super(resource, ref, session, lease, bound, weight, newestServed);
    }

    /** The request for which it goes past the claim that waits; null if it does not, and once that has it. */
    @Nullable
    Request bargesFor() {
        return isBarging && isIdle() ? boundTo() : null;
    }

    @Override
    public boolean isTry() {
        Request only = boundTo();
        return only != null && only.isTry;
    }

    /** Takes the place of a grant, which is over as soon as the store has answered. */
    void replace(LocalGrant grant) {
        replaced = grant;
        grant.state = State.YIELDING;
    }

    boolean isReplacing() {
        return replaced != null;
    }

    /** The grant that it was to replace, and does not any more; null if there is none. */
    @Nullable
    LocalGrant takeReplaced() {
        LocalGrant grant = replaced;
        replaced = null;
        return grant;
    }

    // ---- Answers of the store

    @Override
    public Partition partition() {
        return resource.partition;
    }

    @Override
    public ReentrantLock lock() {
        return resource.lock;
    }

    @Override
    public ResourceSpec spec() {
        return resource.spec;
    }

    @Override
    @Nullable
    public ClaimRef replacedRef() {
        return replaced == null ? null : replaced.ref;
    }

    @Override
    public long newestRequest() {
        return resource.newestRequest();
    }

    @Override
    public void granted(Reply.Granted reply, DeferredActions out) {
        resource.granted(this, reply, out);
    }

    @Override
    public void queued(DeferredActions out) {
        resource.queued(this, out);
    }

    @Override
    public void notGranted(Denial how, @Nullable Supplier<RuntimeException> why, DeferredActions out) {
        resource.notGranted(this, how, why, out);
    }

    @Override
    public void vanished(DeferredActions out) {
        resource.vanished(this, out);
    }

    @Override
    public void advanced(Reply.@Nullable Advanced reply, DeferredActions out) {
        resource.advanced(this, reply, out);
    }

    @Override
    public void withdraw(DeferredActions out) {
        resource.withdraw(this, out);
    }

    @Override
    public void react(DeferredActions out) {
        resource.react(out);
    }

    @Override
    public void step(Consumer<DeferredActions> what) {
        resource.step(what);
    }

    @Override
    public void end(Loss.Cause cause) {
        resource.end(this, cause);
    }
}
