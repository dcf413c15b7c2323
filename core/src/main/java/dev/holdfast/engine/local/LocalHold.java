package dev.holdfast.engine.local;

import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.DoubtMonitor;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.Callbacks;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.LossListeners;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.GrantValidity;
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
 * A hold of one owner under a grant, and the handle of its outermost acquisition. Its resource decides whether it is
 * live. It counts how often its owner has acquired and not released it; the counts belong to the owner thread alone,
 * and a hold that owns itself is acquired once.
 *
 * <p>It has more than 500 lines because it implements all of the API of a hold: each part in a separate object would
 * take heap for every held lock.
 */
public class LocalHold implements HoldHandle {

    /** Shared by all nested releases; users never see this object. */
    private static final CompletableFuture<ReleaseOutcome> STILL_HELD =
            CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD);

    /** The thread that owns it; null for a hold that owns itself. */
    final @Nullable Thread owner;

    /** The thread that requested it, as {@link Request#requester} has it. */
    private final int requester;

    private int depth = 1;

    /** How many acquisitions were exclusive. */
    private int exclusiveDepth;

    /** The end of a release, with its stage for users. */
    private static final class Release extends CompletableFuture<ReleaseOutcome> {
        /** Null until a user asks for it. Guarded by the lock of the resource. */
        private @Nullable UserStage<ReleaseOutcome> userStage;
    }

    private final HoldIssuer issuer;
    private final Grant grant;
    private final long token;
    private final boolean isExtendable;

    /** It shares its grant. Guarded by the lock of the resource. */
    private boolean isShare;

    /**
     * The outermost handle was closed, or the hold was released without it. Written under the lock of the resource or
     * by the owner thread.
     */
    private volatile boolean isClosed;

    private final @Nullable AcquisitionObserver observer;

    /** It was released. Written under the lock of the resource. */
    private volatile boolean isOver;

    /** Set once, when the hold is lost; read by anyone. Written under the lock of the resource. */
    private volatile @Nullable Loss loss;

    /** Why the store has not confirmed the release; null while nothing has failed. */
    volatile @Nullable StoreException notReleased;

    /** The end of the outermost release. Guarded by the lock of the resource. */
    private @Nullable Release release;

    /** Guarded by the lock of the resource. */
    private @Nullable LossListeners listeners;

    /** How it was acquired first. */
    private final Sharing sharing;

    public LocalHold(HoldIssuer issuer, Grant grant, Request request, long token) {
        this.owner = request.owner();
        this.requester = request.requester;
        this.issuer = issuer;
        this.grant = grant;
        this.sharing = request.mode.sharing();
        this.isShare = sharing == Sharing.SHARED;
        this.exclusiveDepth = isShare ? 0 : 1;
        this.observer = request.observer;
        if (observer != null) {
            observer.serve(grant.hasServed() ? GrantSource.LOCAL_HAND_OVER : GrantSource.STORE);
        }
        this.token = token;
        this.isExtendable = request.terms.isExtendable();
    }

    public final Resource resource() {
        return issuer.resource();
    }

    public final HoldIssuer issuer() {
        return issuer;
    }

    final Grant grant() {
        return grant;
    }

    /** The claim that was granted. */
    public final Claim claim() {
        return grant.claim;
    }

    private ClientContext context() {
        return issuer.resource().context();
    }

    private GrantValidity validity() {
        return issuer.resource().partition.validity;
    }

    /** Its key in maps of holds: the owner, or the hold itself. */
    Object key() {
        return owner == null ? this : owner;
    }

    /**
     * Checks that the calling thread may release it.
     *
     * @throws NotOwnerException if it belongs to another
     */
    public void requireOwner() {
        if (owner != null && owner != Thread.currentThread()) {
            throw new NotOwnerException(
                    name(),
                    "The hold on '" + resource().name + "' belongs to the thread '" + owner.getName()
                            + "' and can't be released by '"
                            + Thread.currentThread().getName()
                            + "'. Use acquireAsync for holds that move between threads.");
        }
    }

    /** How often its owner has acquired it like this, and not released it. */
    public int depth(Sharing how) {
        return how == Sharing.EXCLUSIVE ? exclusiveDepth : depth - exclusiveDepth;
    }

    /** Whether it was acquired more often than released. */
    public boolean isEntered() {
        return depth > 0;
    }

    /**
     * Counts one more acquisition.
     *
     * @throws IllegalStateException if there are too many to count
     */
    public void enterAgain(Sharing how) {
        if (depth == Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    "Lock '" + resource().name + "' was acquired too many times by this thread");
        }
        depth++;
        if (how == Sharing.EXCLUSIVE) {
            exclusiveDepth++;
        }
    }

    /**
     * Whether it blocks others until its owner, a thread, releases it: no one else can, and its lease does not end
     * while its client lives.
     */
    boolean isLastingAndOwned() {
        return context().rules().deadlocks().isStated(owner != null, grant.claim.fixedLease != null, isLive());
    }

    /** Whether it owns itself, and this thread requested it. */
    boolean isUnownedFor(Thread thread) {
        return owner == null && requester == Request.idOf(thread);
    }

    /** What its owner wants others to know; empty if nothing. */
    String message() {
        resource().lock();
        try {
            GrantNote note = grant.noteOrNull();
            return note == null ? "" : note.message();
        } finally {
            resource().unlock();
        }
    }

    /** What a thread should know that requested it, did not release it, and waited for it. */
    String unownedHint() {
        return "this thread itself acquired a hold of it, with token " + token
                + ", that belongs to no thread and is not released: it waits for itself, unless another thread "
                + "releases that hold";
    }

    /** Whether its owner is a thread that has died. */
    boolean isOrphan() {
        return owner != null && !owner.isAlive();
    }

    /** Whether it shares its grant. Called under the lock of the resource. */
    boolean isShare() {
        return isShare;
    }

    /** A write hold becomes a read hold. Called under the lock of the resource. */
    void shrink() {
        isShare = true;
    }

    /** Its owner has released it. Called under the lock of the resource. */
    void end() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }

    @Override
    public String name() {
        return resource().name.value();
    }

    @Override
    public long fencingToken() {
        requireOpen(isClosed);
        return token();
    }

    @Override
    public String holdId() {
        return idOf(grant.ref());
    }

    /** The id of a grant: that of its claim, which is unique for ever. */
    public static String idOf(ClaimRef grant) {
        return grant.claim() + "@" + grant.session().value();
    }

    /** The token, or an exception if the hold is lost. */
    public long token() {
        validity().expireIfDue(grant.claim);
        Loss lost = loss;
        if (lost != null) {
            throw new LockLostException(lost);
        }
        if (validity().isPast(grant.claim)) {
            // Another thread has found that first, and is about to report it.
            throw lostException(Loss.Cause.EXPIRED);
        }
        return shownToken();
    }

    public long shownToken() {
        return context().rules().shownToken(token, grant.tokenCursor());
    }

    public long rawToken() {
        return token;
    }

    @Override
    public boolean isHeld() {
        return !isClosed && isLive();
    }

    /** Whether it is good now: neither released nor lost, past its deadline or in doubt. */
    public boolean isLive() {
        return loss == null && !isOver && validity().isGood(grant.claim);
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
        DoubtMonitor doubts = context().doubts();
        for (long seen = doubts.news(); !isLive(); seen = doubts.news()) {
            validity().expireIfDue(grant.claim);
            if (loss != null) {
                throw lostException(Loss.Cause.EXPIRED);
            }
            requireOpen(isOver);
            validity().resolveDoubt(grant.claim);
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
        return Duration.ofNanos(
                Math.max(0, grant.claim.deadline() - context().clock().now()));
    }

    @Override
    public Duration effectiveLease() {
        return Duration.ofNanos(grant.claim.leaseNanos());
    }

    @Override
    public Hold onLost(Consumer<Loss> listener) {
        listen(this, isClosed, listener, Audience.USER);
        return this;
    }

    @Override
    public void whenLost(Consumer<Loss> reaction) {
        listen(this, isClosed, reaction, Audience.ENGINE);
    }

    /**
     * Adds a listener for as long as a handle is open; calls it at once if the hold is lost already.
     */
    public void listen(Hold handle, boolean isHandleClosed, Consumer<Loss> listener, Audience audience) {
        Loss lost;
        resource().lock();
        try {
            lost = loss;
            if (lost == null && !isHandleClosed) {
                if (listeners == null) {
                    listeners = new LossListeners();
                }
                listeners.add(handle, listener, audience);
            }
        } finally {
            resource().unlock();
        }
        if (lost != null) {
            LossListeners.notify(listener, audience, lost, context().callbacks());
        }
    }

    /** A handle was closed while the hold continues under another: its listeners are removed. */
    public void stopListening(Hold handle) {
        resource().lock();
        try {
            if (listeners != null) {
                listeners.remove(handle);
            }
        } finally {
            resource().unlock();
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
                    "The hold on '" + resource().name + "' has no fixed lease: it is renewed until it is released");
        }
        LeaseExtension.extend(this, lease);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return userStage(giveBack(CallerMode.ASYNC));
    }

    /** The stage of a release for users: all callers get the same stage for the outermost one. */
    public CompletionStage<ReleaseOutcome> userStage(CompletableFuture<ReleaseOutcome> end) {
        UserStage<ReleaseOutcome> outermost;
        resource().lock();
        try {
            Release present = release;
            if (present == null || end != present) {
                return end.minimalCompletionStage();
            }
            if (present.userStage == null) {
                present.userStage = new UserStage<>();
            }
            outermost = present.userStage;
        } finally {
            resource().unlock();
        }
        return outermost.of(end, context().callbacks());
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
        CompletableFuture<ReleaseOutcome> outcome = letGo(caller, sharing);
        if (isEntered()) {
            stopListening(this);
        }
        return outcome;
    }

    /** Waits for the end of a release, and throws unless the hold was released. */
    public void finish(CompletableFuture<ReleaseOutcome> end) {
        ClientContext context = context();
        ReleaseOutcome outcome;
        try {
            context.spin().until(end::isDone, Long.MAX_VALUE);
            outcome = Uninterruptibles.uninterruptibly(
                    end, 2 * context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            outcome = ReleaseOutcome.UNCONFIRMED;
        } catch (ExecutionException e) {
            throw new IllegalStateException("a release must not fail", e);
        }
        requireGood(outcome);
    }

    /** Throws unless the hold was released. */
    public void requireGood(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            throw lostException(Loss.Cause.REMOVED);
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            throw unconfirmedException();
        }
    }

    /**
     * Leaves the grant at the store, where it ends with its own lease, when this hold has ended; null if the grant is
     * to be released. Called under the lock of the resource; the action runs without it.
     */
    protected @Nullable Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
        return null;
    }

    /** Closes the handle; true for the first caller only. */
    private boolean markClosed() {
        if (owner != null) {
            boolean isFirst = !isClosed;
            isClosed = true;
            return isFirst;
        }
        resource().lock();
        try {
            boolean isFirst = !isClosed;
            isClosed = true;
            return isFirst;
        } finally {
            resource().unlock();
        }
    }

    /**
     * Ends one acquisition. The last one ends the hold, and the last exclusive one makes it a shared hold. Called by
     * the owner.
     *
     * @throws NotOwnerException if none is left
     */
    public CompletableFuture<ReleaseOutcome> letGo(CallerMode caller, Sharing how) {
        if (depth <= 0 || depth(how) <= 0) {
            throw new NotOwnerException(name(), "The hold on '" + resource().name + "' was already released");
        }
        depth--;
        if (how == Sharing.EXCLUSIVE && --exclusiveDepth == 0 && isEntered()) {
            issuer.downgrade(this);
        }
        if (isEntered()) {
            return loss == null ? STILL_HELD : CompletableFuture.completedFuture(ReleaseOutcome.LOST);
        }
        isClosed = true;
        if (observer != null) {
            observer.releasing();
        }
        CompletableFuture<ReleaseOutcome> stage = issuer.release(this, caller);
        if (observer != null) {
            observeRelease(stage, observer);
        }
        return stage;
    }

    private static void observeRelease(CompletableFuture<ReleaseOutcome> stage, AcquisitionObserver observer) {
        if (stage.isDone() && !stage.isCompletedExceptionally()) {
            // Handed over in memory: avoids a dependent stage.
            observer.released(stage.join());
        } else {
            var unused = stage.thenAccept(observer::released);
        }
    }

    public void requireOpen(boolean closed) {
        if (closed) {
            throw new IllegalStateException("The hold on '" + resource().name + "' was released");
        }
    }

    @Nullable
    public Loss loss() {
        return loss;
    }

    /** Notes the loss. Called once, under the lock of the resource. */
    void lose(Loss lost, DeferredActions deferred) {
        // Before the listeners run: one that calls isHeld() must already see the loss.
        loss = lost;
        Callbacks callbacks = context().callbacks();
        LossListeners lossListeners = listeners;
        listeners = null;
        if (lossListeners != null) {
            lossListeners.notify(Audience.ENGINE, lost, callbacks, deferred);
        }
        if (observer != null) {
            deferred.add(() -> observer.lost(lost));
        }
        if (lossListeners != null) {
            lossListeners.notify(Audience.USER, lost, callbacks, deferred);
        }
    }

    /**
     * Whether it is lost, and has certainly ended at the store too, whose clock may be slower. Called under the lock of
     * the resource.
     */
    boolean hasEndedAtStore(long now) {
        Loss lost = loss;
        if (lost == null) {
            return false;
        }
        return lost.cause() == Loss.Cause.REMOVED || grant.claim.hasEndedAtStore(now);
    }

    /** The stage of the outermost release. Called under the lock of the resource. */
    CompletableFuture<ReleaseOutcome> releaseStage() {
        Release stage = release;
        if (stage == null) {
            stage = new Release();
            release = stage;
        }
        return stage;
    }

    private CompletableFuture<ReleaseOutcome> ended() {
        resource().lock();
        try {
            // A hold that owns itself has no other handles; the thread that closed it may not have changed the depth
            // yet.
            return owner != null && isEntered()
                    ? CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD)
                    : releaseStage();
        } finally {
            resource().unlock();
        }
    }

    /** The store's answer to the release shows that the grant was removed before. */
    void noteRemoval() {
        context().noteLoss(new Loss(name(), context().product(), token, Loss.Cause.REMOVED));
    }

    /** The exception for its loss, with this cause if no other is known. */
    public RuntimeException lostException(Loss.Cause unlessKnown) {
        Loss known = loss;
        return new LockLostException(
                known != null ? known : new Loss(name(), context().product(), token, unlessKnown));
    }

    /** The exception for a release that the store has not confirmed. */
    public RuntimeException unconfirmedException() {
        return context().failures().unconfirmed(name(), token, effectiveLease(), notReleased);
    }

    /** Its present state in a word, without asking the store. */
    public String state() {
        return isHeld() ? "held" : loss != null ? "lost" : isClosed || isOver ? "released" : "in doubt";
    }

    @Override
    public String toString() {
        return "Hold[" + resource().name + ", token " + shownToken() + ", " + state() + ", "
                + context().product() + "]";
    }
}
