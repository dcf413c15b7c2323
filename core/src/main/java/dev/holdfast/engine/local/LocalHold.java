package dev.holdfast.engine.local;

import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.DoubtMonitor;
import dev.holdfast.engine.execution.Callbacks;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.LossListeners;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A share of a grant in the hands of one owner, and the handle of its outermost acquisition. Whether it is live is
 * decided by its resource.
 */
public class LocalHold extends OwnedHold {

    /** Of all nested acquisitions, so that none is made for each; no user gets it. */
    private static final CompletableFuture<ReleaseOutcome> STILL_HELD =
            CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD);

    public final LocalResource resource;
    public final LocalGrant grant;
    private final long token;
    private final boolean isExtendable;

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
    private @Nullable LossListeners listeners;

    /** The outermost acquisition was for writing. */
    private final boolean isWriteHandle;

    public LocalHold(LocalResource resource, LocalGrant grant, Request request, long token) {
        super(request.owner, resource.policy.hasReaders() && !request.isShare());
        this.resource = resource;
        this.grant = grant;
        this.isShare = request.isShare();
        this.isWriteHandle = writeDepth() > 0;
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
        Uninterruptibles.run(this::awaitCertainty);
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
        return Duration.ofNanos(grant.leaseNanos());
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
        Loss lost;
        resource.lock.lock();
        try {
            lost = loss;
            if (lost == null && !isHandleClosed) {
                if (listeners == null) {
                    listeners = new LossListeners();
                }
                listeners.add(handle, told, isReaction);
            }
        } finally {
            resource.lock.unlock();
        }
        if (lost != null) {
            LossListeners.tell(told, isReaction, lost, resource.partition.context.callbacks());
        }
    }

    /** A handle was closed while the hold goes on under another: its listeners are not told any more. */
    public void stopListening(Hold handle) {
        resource.lock.lock();
        try {
            if (listeners != null) {
                listeners.remove(handle);
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
                return end.minimalCompletionStage();
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
        if (isEntered()) {
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
        if (exit(isWrite)) {
            resource.downgrade(this);
        }
        if (isEntered()) {
            return loss == null ? STILL_HELD : CompletableFuture.completedFuture(ReleaseOutcome.LOST);
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
        Callbacks callbacks = resource.partition.context.callbacks();
        LossListeners told = listeners;
        listeners = null;
        if (told != null) {
            told.tellReactions(lost, callbacks, out);
        }
        if (observer != null) {
            out.add(() -> observer.lost(lost));
        }
        if (told != null) {
            told.tellListeners(lost, callbacks, out);
        }
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
        return lost.cause() == Loss.Cause.REMOVED || grant.isOverAtStoreBy(now);
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
            return owner != null && isEntered()
                    ? CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD)
                    : releaseStage();
        } finally {
            resource.lock.unlock();
        }
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
