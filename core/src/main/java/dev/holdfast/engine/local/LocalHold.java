package dev.holdfast.engine.local;

import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.DoubtMonitor;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A share of a grant in the hands of one owner, and the handle of its outermost acquisition. Whether it is live is
 * decided by its resource; the depths belong to the owner thread alone.
 */
public class LocalHold implements HoldHandle {
    private static final Logger log = LoggerFactory.getLogger(LocalHold.class);

    public final LocalResource resource;
    public final LocalGrant grant;
    final @Nullable Thread owner;
    private final long token;
    private final boolean isExtendable;

    /**
     * How often the owner has acquired and not released. Only the owner thread touches it; 1 for a hold that owns
     * itself.
     */
    public int depth = 1;

    /** How many of them are for the whole capacity of a read-write lock. */
    public int writeDepth;

    /** It stands beside others under its grant. Guarded by the lock of the resource. */
    private boolean isShare;

    /**
     * The outermost handle was closed, or the hold was released without it. Written under the lock of the resource or
     * by the owner thread.
     */
    private volatile boolean isClosed;

    private final @Nullable AcquisitionObserver observer;

    /** Given back. Written under the lock of the resource. */
    private volatile boolean isOver;

    /** Set once, when the hold is lost; read by anyone. Written under the lock of the resource. */
    private volatile @Nullable Loss loss;

    /** Why the store has not confirmed the release so far; null while nothing has gone wrong. */
    volatile @Nullable StoreException notReleased;

    /** The end of the outermost release. Guarded by the lock of the resource. */
    private @Nullable CompletableFuture<ReleaseOutcome> release;

    /** Guarded by the lock of the resource. */
    private @Nullable UserStage<ReleaseOutcome> toldOfRelease;

    /** Guarded by the lock of the resource. */
    private @Nullable List<Listener> listeners;

    /** The outermost acquisition was for writing. */
    private final boolean isWriteHandle;

    /** A listener or a reaction of the engine, and the handle through which it was named: this one or a nested one. */
    private record Listener(Hold handle, Consumer<Loss> told, boolean isReaction) {}

    public LocalHold(LocalResource resource, LocalGrant grant, Request request, long token) {
        this.resource = resource;
        this.grant = grant;
        this.owner = request.owner;
        this.isShare = request.isShare();
        this.writeDepth = resource.policy.hasReaders() && !request.isShare() ? 1 : 0;
        this.isWriteHandle = writeDepth > 0;
        this.observer = request.observer;
        if (observer != null) {
            observer.serve(grant.hasServed() ? GrantSource.LOCAL_HAND_OVER : GrantSource.STORE);
        }
        this.token = token;
        this.isExtendable = request.terms.isExtendable();
    }

    /** Whether it stands beside others under its grant. Called under the lock of the resource. */
    boolean isShare() {
        return isShare;
    }

    /** Who has it, for look-up. */
    Object key() {
        return owner == null ? this : owner;
    }

    /** A write hold becomes a read hold. Called under the lock of the resource. */
    void shrink() {
        isShare = true;
    }

    /** Its owner has given it back. Called under the lock of the resource. */
    void end() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }

    @Override
    public String name() {
        return resource.name.value();
    }

    @Override
    public long fencingToken() {
        requireOpen(isClosed);
        return token();
    }

    @Override
    public String holdId() {
        return idOf(grant.ref);
    }

    /** Of all grants there ever were, this one: by the claim that it answers. */
    public static String idOf(ClaimRef grant) {
        return grant.claim() + "@" + grant.session().value();
    }

    /** The token, or an exception if the hold is lost. */
    public long token() {
        resource.partition.validity.expireIfDue(grant);
        Loss lost = loss;
        if (lost != null) {
            throw new LockLostException(lost);
        }
        if (resource.partition.validity.isPast(grant)) {
            // Another thread has found that first, and is on its way to tell.
            throw lostException(Loss.Cause.EXPIRED);
        }
        return shownToken();
    }

    public long shownToken() {
        return resource.partition.context.rules().shownToken(token, grant.tokenCursor());
    }

    public long rawToken() {
        return token;
    }

    @Override
    public boolean isHeld() {
        return !isClosed && isLive();
    }

    /** Whether the share is good now: neither released nor lost, past its deadline or in doubt. */
    public boolean isLive() {
        return loss == null && !isOver && resource.partition.validity.isGood(grant);
    }

    @Override
    public void ensureHeld() {
        requireOpen(isClosed);
        ensureLive();
    }

    public void ensureLive() {
        if (!isLive()) {
            try {
                awaitCertainty();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw lostException(Loss.Cause.EXPIRED);
            }
        }
    }

    /** Waits while the hold is in doubt; throws if it is lost or closed. */
    public void awaitCertainty() throws InterruptedException {
        DoubtMonitor doubts = resource.partition.context.doubts();
        for (long seen = doubts.news(); !isLive(); seen = doubts.news()) {
            resource.partition.validity.expireIfDue(grant);
            if (loss != null) {
                throw lostException(Loss.Cause.EXPIRED);
            }
            requireOpen(isOver);
            resource.partition.validity.resolveDoubt(grant);
            doubts.awaitNews(seen, liveFor().toNanos());
        }
    }

    /** As {@link #awaitCertainty}; an interrupt does not end the wait, and stays pending. */
    public void awaitCertaintyUninterruptibly() {
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    awaitCertainty();
                    return;
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Duration remaining() {
        return isClosed ? Duration.ZERO : liveFor();
    }

    public Duration liveFor() {
        if (loss != null || isOver) {
            return Duration.ZERO;
        }
        return Duration.ofNanos(Math.max(
                0, grant.deadline() - resource.partition.context.clock().now()));
    }

    @Override
    public Duration effectiveLease() {
        long ofSession = grant.session.ttlNanos;
        FixedLeaseState own = grant.own;
        if (own == null) {
            return Duration.ofNanos(ofSession);
        }
        return Duration.ofNanos(grant.isDetached() ? own.lengthNanos : Math.min(own.lengthNanos, ofSession));
    }

    @Override
    public Hold onLost(Consumer<Loss> listener) {
        listen(this, isClosed, listener, false);
        return this;
    }

    @Override
    public void whenLost(Consumer<Loss> reaction) {
        listen(this, isClosed, reaction, true);
    }

    /**
     * Names a listener, or a reaction, for as long as a handle is open; tells it at once if the hold is lost already.
     */
    public void listen(Hold handle, boolean isHandleClosed, Consumer<Loss> told, boolean isReaction) {
        Listener listener = new Listener(handle, told, isReaction);
        Loss lost;
        resource.lock.lock();
        try {
            lost = loss;
            if (lost == null && !isHandleClosed) {
                if (listeners == null) {
                    listeners = new ArrayList<>(1);
                }
                listeners.add(listener);
            }
        } finally {
            resource.lock.unlock();
        }
        if (lost != null) {
            tell(listener, lost);
        }
    }

    /** A handle was closed while the hold goes on under another: its listeners are not told any more. */
    public void stopListening(Hold handle) {
        resource.lock.lock();
        try {
            if (listeners != null) {
                listeners.removeIf(listener -> listener.handle == handle);
            }
        } finally {
            resource.lock.unlock();
        }
    }

    @Override
    public void extend(Duration lease) {
        requireOpen(isClosed);
        extendLease(lease);
    }

    public void extendLease(Duration lease) {
        if (!isExtendable) {
            throw new IllegalStateException(
                    "The hold on '" + resource.name + "' has no fixed lease: it is renewed until it is closed");
        }
        LeaseExtension.extend(this, lease);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return told(giveBack(CallerMode.ASYNC));
    }

    /** The end of a release as users see it: the outermost one is told by the same stage to all who ask. */
    public CompletionStage<ReleaseOutcome> told(CompletableFuture<ReleaseOutcome> end) {
        UserStage<ReleaseOutcome> outermost;
        resource.lock.lock();
        try {
            if (end != release) {
                return end;
            }
            if (toldOfRelease == null) {
                toldOfRelease = new UserStage<>();
            }
            outermost = toldOfRelease;
        } finally {
            resource.lock.unlock();
        }
        return outermost.of(end, resource.partition.context.callbacks());
    }

    @Override
    public void close() {
        if (!isClosed) {
            finish(giveBack(CallerMode.BLOCKING));
        }
    }

    @Override
    public CompletableFuture<ReleaseOutcome> giveBack(CallerMode caller) {
        requireOwner();
        if (!markClosed()) {
            return ended();
        }
        CompletableFuture<ReleaseOutcome> outcome = letGo(caller, isWriteHandle);
        if (depth > 0) {
            stopListening(this);
        }
        return outcome;
    }

    /** Waits for the end of a release and turns what is not good into an exception. */
    public void finish(CompletableFuture<ReleaseOutcome> end) {
        ClientContext context = resource.partition.context;
        ReleaseOutcome outcome;
        try {
            context.spin().until(end::isDone, Long.MAX_VALUE);
            outcome = Uninterruptibles.uninterruptibly(
                    end, 2 * context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            outcome = ReleaseOutcome.UNCONFIRMED;
        } catch (ExecutionException e) {
            throw new IllegalStateException("a release never fails", e);
        }
        requireGood(outcome);
    }

    /** Turns an outcome that is not good into an exception. */
    public void requireGood(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            throw lostException(Loss.Cause.REMOVED);
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            throw unconfirmedException();
        }
    }

    /**
     * How the grant is left at the store, to end there by itself, when this hold has ended; null if it is to be
     * released there. Called under the lock of the resource; what it answers runs without.
     */
    protected @Nullable Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
        return null;
    }

    /** Makes sure that one caller closes the handle, whatever threads try. */
    private boolean markClosed() {
        if (owner != null) {
            boolean isFirst = !isClosed;
            isClosed = true;
            return isFirst;
        }
        resource.lock.lock();
        try {
            boolean isFirst = !isClosed;
            isClosed = true;
            return isFirst;
        } finally {
            resource.lock.unlock();
        }
    }

    /**
     * Gives back one acquisition; the last one ends the hold, and the last one for writing makes it a read hold. Called
     * by the owner.
     */
    public CompletableFuture<ReleaseOutcome> letGo(CallerMode caller, boolean isWrite) {
        if (depth <= 0 || (isWrite && writeDepth <= 0)) {
            throw new NotOwnerException(name(), "The hold on '" + resource.name + "' was released already");
        }
        depth--;
        if (isWrite && --writeDepth == 0 && depth > 0) {
            resource.downgrade(this);
        }
        if (depth > 0) {
            return CompletableFuture.completedFuture(loss == null ? ReleaseOutcome.STILL_HELD : ReleaseOutcome.LOST);
        }
        isClosed = true;
        CompletableFuture<ReleaseOutcome> stage = resource.release(this, caller);
        if (observer != null) {
            tellReleased(stage, observer);
        }
        return stage;
    }

    private static void tellReleased(CompletableFuture<ReleaseOutcome> stage, AcquisitionObserver observer) {
        if (stage.isDone() && !stage.isCompletedExceptionally()) {
            // Handed over in memory: no stage is made that would be complete at once.
            observer.released(stage.join());
        } else {
            var unused = stage.thenAccept(observer::released);
        }
    }

    public void requireOwner() {
        if (owner != null && owner != Thread.currentThread()) {
            throw new NotOwnerException(
                    name(),
                    "The hold on '" + resource.name + "' belongs to the thread '" + owner.getName()
                            + "' and can't be released by '"
                            + Thread.currentThread().getName()
                            + "'. Use acquireAsync for holds that move between threads.");
        }
    }

    public void requireOpen(boolean closed) {
        if (closed) {
            throw new IllegalStateException("The hold on '" + resource.name + "' was closed");
        }
    }

    @Nullable
    public Loss loss() {
        return loss;
    }

    /** Notes the end of the hold that its owner did not ask for. Called once, under the lock of the resource. */
    void lose(Loss lost, DeferredActions out) {
        // Before the listeners run: one that calls isHeld() must already see the loss.
        loss = lost;
        List<Listener> told = listeners == null ? List.of() : listeners;
        listeners = null;
        told.stream().filter(Listener::isReaction).forEach(reaction -> out.add(() -> tell(reaction, lost)));
        if (observer != null) {
            out.add(() -> observer.lost(lost));
        }
        told.stream().filter(one -> !one.isReaction).forEach(one -> out.add(() -> tell(one, lost)));
    }

    /**
     * Whether it is lost, and surely over at the store too, whose clock may be slower. Called under the lock of the
     * resource.
     */
    boolean hasEndedAtStore(long now) {
        Loss lost = loss;
        if (lost == null) {
            return false;
        }
        Session session = grant.session;
        return lost.cause() == Loss.Cause.REMOVED
                || (!grant.isDetached() && session.isOverBy(now))
                || (grant.own != null && grant.own.isPastBy(now));
    }

    /** The stage of the outermost release, made if need be. Called under the lock of the resource. */
    CompletableFuture<ReleaseOutcome> releaseStage() {
        CompletableFuture<ReleaseOutcome> stage = release;
        if (stage == null) {
            stage = new CompletableFuture<>();
            release = stage;
        }
        return stage;
    }

    private CompletableFuture<ReleaseOutcome> ended() {
        resource.lock.lock();
        try {
            // A hold that owns itself has no other handles, and whoever closed it may not have come as far as its
            // depth.
            return owner != null && depth > 0
                    ? CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD)
                    : releaseStage();
        } finally {
            resource.lock.unlock();
        }
    }

    private void tell(Listener listener, Loss lost) {
        if (listener.isReaction) {
            listener.told.accept(lost);
            return;
        }
        resource.partition.context.callbacks().runLossListener(() -> {
            try {
                listener.told.accept(lost);
            } catch (RuntimeException | Error e) {
                log.warn("resource={} token={} a listener for the loss failed", resource.name, lost.token(), e);
            }
        });
    }

    /** The store has taken it away, as its answer to the release shows. */
    void noteRemoval() {
        resource.partition.context.noteLoss(
                new Loss(name(), resource.partition.context.product(), token, Loss.Cause.REMOVED));
    }

    /** The exception for its loss, of a cause unless that is known already. */
    public RuntimeException lostException(Loss.Cause unlessKnown) {
        Loss known = loss;
        return new LockLostException(
                known != null ? known : new Loss(name(), resource.partition.context.product(), token, unlessKnown));
    }

    /** The exception for a release that the store has not confirmed. */
    public RuntimeException unconfirmedException() {
        return resource.partition.context.failures().unconfirmed(name(), token, effectiveLease(), notReleased);
    }

    /** What it is now, without the store. */
    public String state() {
        return isHeld() ? "held" : loss != null ? "lost" : isClosed || isOver ? "released" : "in doubt";
    }

    @Override
    public String toString() {
        return "Hold[" + resource.name + ", token " + shownToken() + ", " + state() + ", "
                + resource.partition.context.product() + "]";
    }
}
