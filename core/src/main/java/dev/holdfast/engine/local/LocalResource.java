package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A resource of this process as its claims and holds know it; {@link LocalSynchronizer} is the one there is.
 * Thread-safe.
 */
public abstract class LocalResource {
    public final Partition partition;
    public final ResourceName name;
    public final ResourceSpec spec;
    final KindPolicy policy;
    /** Guards the claims, the grants and the holds of this resource. */
    final ReentrantLock lock = new ReentrantLock();
    /**
     * The local hold that excludes all others; null if there is none, and for a semaphore. Written under the lock, read
     * by anyone.
     */
    public volatile @Nullable LocalHold current;

    LocalResource(Partition partition, ResourceName name, ResourceSpec spec) {
        this.partition = partition;
        this.name = name;
        this.spec = spec;
        this.policy = KindPolicy.of(spec.kind());
    }

    final long now() {
        return partition.context.clock().now();
    }

    /** Does something under the lock, and what follows from it afterwards. */
    void step(Consumer<DeferredActions> what) {
        DeferredActions out = new DeferredActions();
        lock.lock();
        try {
            what.accept(out);
        } finally {
            lock.unlock();
            out.send();
        }
    }

    // ---- Holds

    /** The hold that a thread has here, live or lost; null if it has none. */
    @Nullable
    public LocalHold holdOf(Thread thread) {
        LocalHold live = current;
        if (live != null && live.owner == thread) {
            return live;
        }
        lock.lock();
        try {
            LocalHold mine = shareOf(thread);
            return mine == null ? lostHoldOf(thread) : mine;
        } finally {
            lock.unlock();
        }
    }

    /** The live hold that a thread has here; null if it has none. */
    @Nullable
    public LocalHold liveHoldOf(Thread thread) {
        LocalHold live = current;
        if (live != null) {
            // It excludes all others.
            return live.owner == thread ? live : null;
        }
        if (!policy.isShared()) {
            return null;
        }
        lock.lock();
        try {
            return shareOf(thread);
        } finally {
            lock.unlock();
        }
    }

    /** The live hold of a thread that shares a grant with others. Called under the lock. */
    abstract @Nullable LocalHold shareOf(Thread thread);

    /** The lost hold of a thread that it has not closed. Called under the lock. */
    abstract @Nullable LocalHold lostHoldOf(Thread thread);

    /** Ends the outermost acquisition of a hold. Called by its owner, once. */
    public abstract CompletableFuture<ReleaseOutcome> release(LocalHold hold, CallerMode caller);

    /** A write hold becomes a read hold: the grant goes on, and others may share it. Called by its owner. */
    abstract void downgrade(LocalHold hold);

    /** Somebody is told the id of permits. */
    public void name(LocalHold hold) {
        lock.lock();
        try {
            if (hold.isOver()) {
                throw new IllegalStateException("The permits of '" + name + "' were given back before");
            }
            hold.grant.noteNamed();
        } finally {
            lock.unlock();
        }
    }

    // ---- Claims; see the methods of the same names there

    public abstract void granted(LocalClaim claim, Reply.Granted reply, DeferredActions out);

    public abstract void queued(LocalClaim claim, DeferredActions out);

    abstract void notGranted(
            LocalClaim claim, Claim.Denial how, @Nullable Supplier<RuntimeException> why, DeferredActions out);

    public abstract void vanished(LocalClaim claim, DeferredActions out);

    public abstract void advanced(LocalClaim claim, Reply.@Nullable Advanced reply, DeferredActions out);

    public abstract void withdraw(LocalClaim claim, DeferredActions out);

    public abstract void react(DeferredActions out);

    public abstract void end(LocalGrant grant, Loss.Cause cause);

    /** No claim for a request goes past the one that waits any more. Called under the lock. */
    abstract void bargesNoLonger(Request request);

    /** The number of the newest request that waits here. */
    public abstract long newestRequest();
}
