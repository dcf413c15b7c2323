package dev.holdfast.engine.local;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.ClaimListener;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * The local tier of one resource. Local requests queue here, first in, first out. While there are any, the resource
 * keeps one claim in the store's queue. When that is granted, the grant is handed from request to request in memory,
 * each with the next token of its block. It is released when no request wants it, yielded for a new place at the tail
 * when its budget is spent and others wait at the store, or lost.
 *
 * With strict order, the requests that waited here when a claim was sent are its batch: its grant serves them, and then
 * goes back if others wait at the store. A request that comes later is served in memory only while no one waits there.
 *
 * A mutex or read-write lock has one grant at a time, and readers of this process share it. A semaphore may have many,
 * each for one request at a time; while a request waits one more is claimed, and a grant that does not suit it goes
 * back to the store first. A pass grant of a latch serves all requests that were queued here while its claim was queued
 * at the store.
 *
 * Hand-over is neither purely first in, first out, which costs two context switches each time, nor free for all, which
 * starves. The owner has a slice of time from the moment at which it was handed the lock: if it releases and asks again
 * in it, it is served at once. Meanwhile the head of the queue is awake and polls. It takes a free lock that no one
 * acquired between two polls; otherwise the first release after the slice hands it over. So a hot lock runs at memory
 * speed, and each of n waiting threads has its slice after n slices. Readers that share a grant have a slice together:
 * they pass a writer at the head until it is over.
 *
 * All of this is one state machine under one lock. Three objects own its state: RequestQueue (who waits),
 * ResourceClaims (what was asked of the store) and Grants (what the store granted). This class matches them, and takes
 * the decisions that need more than one of them. It has more than 500 lines because these decisions depend on each
 * other: each event ends in proceed(), and a part of it elsewhere would need all three objects as well.
 *
 * The lock of a resource is held together neither with that of another resource nor with that of the session keeper.
 * Nothing outside the engine is called under it: commands, wake-ups and listeners go to deferred actions, which run
 * when the lock is free.
 */

/** Matches requests and grants of one resource in this process. Thread-safe. */
public final class LocalSynchronizer extends Resource implements ClaimListener, HoldIssuer {

    private static final long RETRY_RELEASE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** How long an idle grant is kept for readers, and a claim that no request needs. */
    private static final long KEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * How often the last owner of a slice lets other threads run before it releases a grant that was handed over a
     * moment ago. When it was woken, it may have taken the processor of the thread that handed over and is about to ask
     * again: letting that thread run costs far less than a release and a new claim.
     */
    private static final int YIELDS = 3;

    private final Grants grants;

    // Guarded by this lock.

    /** Null while nothing is asked of the store and no request waits, as for most held locks. */
    private @Nullable ResourceClaims claims;

    private RequestQueue queue = RequestQueue.NONE;
    private boolean isRemoved;

    /** An idle grant is kept until a timer fires. */
    private boolean isKeepingGrant;

    /** A timer is set that drops the main claim if no request needs it. */
    private boolean isDropScheduled;

    /** Makes the resource of a name, which leaves {@code registry} when it is no longer used. */
    LocalSynchronizer(
            Partition partition, ResourceRegistry<LocalSynchronizer> registry, ResourceName name, ResourceSpec spec) {
        super(partition, registry, name, spec);
        this.grants = new Grants(this);
    }

    @Override
    public ResourceName resourceName() {
        return name;
    }

    @Override
    public ResourceSpec spec() {
        return spec;
    }

    @Override
    public Resource resource() {
        return this;
    }

    private ResourceClaims claims() {
        ResourceClaims present = claims;
        if (present == null) {
            present = new ResourceClaims(this, grants);
            claims = present;
        }
        return present;
    }

    // ---- Requests

    /**
     * Serves a request or queues it.
     *
     * @return false if this resource has left the registry: try the next one
     */
    boolean enter(Request request) {
        return decide(deferred -> {
            if (!isRemoved) {
                admit(request, deferred);
                return true;
            }
            return false;
        });
    }

    private void admit(Request request, DeferredActions deferred) {
        LocalHold lostHold = lostHoldOf(request.owner());
        if (lostHold != null) {
            request.fail(() -> new LockLostException(lossOf(lostHold)), deferred);
        } else if (context().isClosing()) {
            request.fail(context().failures()::closed, deferred);
        } else if (serveAtOnce(request, deferred)) {
            return;
        } else if (request.isTry() && !mayTry(request, deferred)) {
            request.refuse("this client ('" + context().options().label() + "') holds or requests it", deferred);
        } else {
            request.noteQueuedAt(claims().answers(), partition.keeper.attempts());
            if (queue.isEmpty()) {
                grants.beginSharedSlice();
            }
            queue = queue.orNew();
            queue.append(request);
            serveQueue(deferred);
            request.setAskedFor(request == queue.head() && claims().isAsking());
        }
        tidy();
    }

    private @Nullable LocalHold lostHoldOf(@Nullable Thread owner) {
        return claims == null ? null : claims.lostHoldOf(owner);
    }

    private static Loss lossOf(LocalHold hold) {
        Loss loss = hold.loss();
        if (loss == null) {
            throw new IllegalStateException("a hold in the list of lost holds has no loss");
        }
        return loss;
    }

    /** Serves a request that need not queue, if there is a grant for it. */
    private boolean serveAtOnce(Request request, DeferredActions deferred) {
        boolean isFirst = queue.isEmpty() || (request.isTry() && spec.order() == Order.BARGING);
        for (Grant grant = grants.firstCandidate(); grant != null; grant = grants.candidateAfter(grant)) {
            if (grant.canServe(request) && (isFirst || (!request.isTry() && grant.isSliceOf(request)))) {
                return serve(grant, request, deferred);
            }
        }
        return false;
    }

    /**
     * Whether a try may ask the store. A grant that is kept idle does not prevent that. Of a semaphore it may also ask
     * behind requests without an answer, which perhaps need not wait.
     */
    private boolean mayTry(Request request, DeferredActions deferred) {
        if (policy.grantsPasses()) {
            // The latch may have opened, and this process may not know.
            return true;
        }
        if (!queue.isEmpty()) {
            return spec.capacity() > 1 && (claims().isAsking() || isBarging());
        }
        Grant grant = grants.first();
        if (isKeepingGrant && grant != null && grant.isIdle() && !grant.suits(request) && grant.claim.isHeld()) {
            claims().giveBack(grant, deferred);
        }
        return claims().mayAsk(request) || grants.hasIdleFor(request);
    }

    private boolean isBarging() {
        return policy.isBarging(spec.order());
    }

    /**
     * Ends a request whose caller gives it up.
     *
     * @return false if it had ended before
     */
    boolean cancel(Request request) {
        return decide(deferred -> {
            if (request.isDone()) {
                return false;
            }
            request.abandon();
            queue.remove(request);
            proceed(deferred);
            return true;
        });
    }

    /**
     * Ends a request with an exception.
     *
     * @return false if it had ended before
     */
    boolean fail(Request request, Supplier<RuntimeException> why) {
        return decide(deferred -> {
            if (request.isDone()) {
                return false;
            }
            queue.remove(request);
            request.fail(why, deferred);
            proceed(deferred);
            return true;
        });
    }

    /** Whether the store has not answered what this process asked for a request. */
    boolean isUnanswered(Request request) {
        return decide(deferred -> claims().isUnansweredSince(request.answersBefore()));
    }

    /**
     * Lets a request whose wait is over end with the next answer of the store, if none has come since it was queued.
     * The caller bounds the time until then.
     *
     * @return whether such an answer is outstanding; if not, nothing has changed
     */
    boolean awaitAnswer(Request request, Duration waited) {
        return decide(deferred -> {
            if (request.isDone() || !claims().isUnansweredSince(request.answersBefore())) {
                return false;
            }
            queue.noteOverdue(request, waited);
            return true;
        });
    }

    /** The head of the queue polls whether the slice before it is over. */
    void poll(Request request) {
        step(deferred -> {
            if (request.isDone() || request != queue.head() || grants.isEmpty()) {
                request.setWatching(false);
                return;
            }
            long now = now();
            boolean isFree = false;
            boolean isToBeTaken = false;
            for (Grant grant = grants.first(); grant != null && grant.isIdle(); grant = grant.next) {
                isFree = true;
                isToBeTaken |= grant.checkSlice(now);
            }
            if (isToBeTaken) {
                request.setWatching(false);
                serveQueue(deferred);
            } else if (!isFree && grants.isSliceOver(now)) {
                // The next release hands over: no need to stay awake.
                request.setWatching(false);
            }
        });
    }

    // ---- Serving

    /** Does what the present state requires, after anything has changed. */
    @Override
    public void proceed(DeferredActions deferred) {
        serveQueue(deferred);
        queue.endOverdue(request -> claims().isUnansweredSince(request.answersBefore()), deferred);
        if (claims().dropUnwanted(queue, deferred)) {
            serveQueue(deferred);
        }
        tidy();
    }

    /** Hands grants over, and makes sure that the head of the queue is on its way to a hold. */
    private void serveQueue(DeferredActions deferred) {
        if (context().isClosing()) {
            return;
        }
        Grant grant = grants.first();
        while (grant != null && (grant.isIdle() || !policy.hasSeveralGrants())) {
            Grant next = grant.next;
            if (grant.claim.isHeld() && context().rules().mayPartWith(!grant.isIdle() && !policy.isShared())) {
                handOver(grant, deferred);
            }
            grant = next;
        }
        Request first = queue.head();
        if (first == null) {
            return;
        }
        if (!claims().mayAsk(first)) {
            askForOthers(deferred);
            return;
        }
        Session session = partition.session();
        if (session == null) {
            deferred.add(() -> partition.needSession(CallerMode.ASYNC));
        } else {
            claims().ask(session, first, queue, deferred);
        }
    }

    /** The head of the queue waits: claims for requests behind it are made, and tries that have to wait end. */
    private void askForOthers(DeferredActions deferred) {
        if (isBarging() && claims().isWaiting()) {
            claims().bargeNewcomers(queue, deferred);
        }
        if (queue.hasIdleTries() && !claims().isAsking()) {
            // The store has answered that the requests before them have to wait.
            refuseAll(
                    request -> request.isTry()
                            && request.bargingClaim() == null
                            && !grants.hasIdleFor(request)
                            && (!policy.grantsPasses() || claims().mustWait(request)),
                    null,
                    deferred);
        }
        if (policy.grantsPasses()) {
            claims().cover(queue, deferred);
        }
    }

    /**
     * Hands a grant to the first requests that it suits, as far as there is room. If no local hold uses it, yields or
     * releases it.
     */
    private void handOver(Grant grant, DeferredActions deferred) {
        boolean wasServed = true;
        while (wasServed && grant.claim.isHeld()) {
            Request first = queue.head();
            if (first == null) {
                if (grant.isIdle() && !isKeepingGrant) {
                    claims().giveBack(grant, deferred);
                }
                return;
            }
            boolean isInUse = policy.isShared() && !grant.isIdle();
            if (isInUse && !(grant.suits(first) && grant.hasRoomFor(first) && !grant.isSpent())) {
                return;
            }
            wasServed = handOver(grant, first, deferred) && policy.isShared();
        }
    }

    /** Hands a grant to the head of the queue, or to a request that passes it; whether it did. */
    private boolean handOver(Grant grant, Request first, DeferredActions deferred) {
        if (!partition.validity.mayOutlastHold(grant.claim)) {
            deferred.add(() -> partition.validity.expireIfDue(grant.claim));
        } else if (!partition.validity.mayHandOn(grant.claim)) {
            deferred.add(() -> partition.validity.resolveDoubt(grant.claim));
        } else if (policy.grantsPasses() && !grant.suits(first)) {
            if (!grant.claim.isCovering()) {
                claims().giveBack(grant, deferred);
            }
        } else if (grant.mustYieldFor(first)) {
            // Holds may share it whose budget has been spent since that was checked: they keep it to their end.
            if (grant.isIdle()) {
                claims().yieldGrant(grant, first, queue, deferred);
            }
        } else if (grant.mustAskFirst(first)) {
            grants.ask(grant, deferred);
        } else if (serve(grant, first, deferred)) {
            return true;
        } else {
            grants.advance(grant, queue, deferred);
        }
        return false;
    }

    /** Makes a hold for a request, which leaves the queue; false if there is no token for it yet. */
    private boolean serve(Grant grant, Request request, DeferredActions deferred) {
        boolean needsToken = grant.needsTokenFor(request);
        long token = grant.tokenFor(request);
        if (token == 0) {
            return false;
        }
        LocalHold hold = request.mode.holds().make(this, grant, request, token);
        grants.enter(grant, hold, request);
        String message = request.terms.message();
        if (message != null || grant.noteOrNull() != null) {
            grant.note().entered(hold, message, deferred);
        }
        request.grant(hold, deferred);
        queue.remove(request);
        if (request.isShare() && policy.exceedsShares(grant.claim.weight())) {
            leaveRoomLater(grant, deferred);
        }
        if (policy.claimsMayBecomeUnwanted() && !claims().isWanted(queue)) {
            dropClaimLater(deferred);
        }
        // Two threads that take turns leave the queue empty at each hand-over.
        if (!policy.grantsPasses() && (!queue.isEmpty() || !needsToken || grant.served() > 1)) {
            grants.prepareHandOver(grant, request, queue, deferred);
        }
        return true;
    }

    /** Whether the head of the queue must leave a grant to those whose slice it is, while they may ask again. */
    private boolean mustWatch(Grant grant, Request first, DeferredActions deferred) {
        if (first.waiter == null || !grant.isSliceOfOthers(first.waiter)) {
            return false;
        }
        if (!first.isWatching() && grant.canServe(first) && !grant.mustYieldFor(first)) {
            first.setWatching(true);
            grant.beginWatch();
            deferred.add(first::wake);
        }
        return first.isWatching();
    }

    /** Ends the requests that match: others have or want the resource. */
    private void refuseAll(Predicate<Request> condition, @Nullable String whoHasIt, DeferredActions deferred) {
        queue.end(condition, request -> request.refuse(whoHasIt, deferred));
    }

    /**
     * Keeps only what is needed: no empty queue, unless its numbers continue, no claims that are none, and no resource
     * that is not used.
     */
    private void tidy() {
        if (queue != RequestQueue.NONE && queue.isDisposable() && !policy.grantsPasses()) {
            queue = RequestQueue.NONE;
            claims().endBatches();
        }
        if (claims != null && claims.isNone() && queue.isEmpty()) {
            claims = null;
        }
        if (queue.isEmpty() && claims == null && grants.isEmpty() && !isRemoved) {
            isRemoved = true;
            leaveRegistry();
        }
    }

    // ---- Holds

    @Override
    public @Nullable LocalHold holdOf(Thread thread) {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive != null && exclusive.owner == thread) {
            return exclusive;
        }
        lock();
        try {
            LocalHold shared = grants.sharedHoldOf(thread);
            return shared == null ? lostHoldOf(thread) : shared;
        } finally {
            unlock();
        }
    }

    @Override
    public @Nullable LocalHold liveHoldOf(Thread thread) {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive != null) {
            return exclusive.owner == thread ? exclusive : null;
        }
        if (!policy.isShared()) {
            return null;
        }
        lock();
        try {
            return grants.sharedHoldOf(thread);
        } finally {
            unlock();
        }
    }

    @Override
    public boolean isHeldExclusively() {
        return grants.exclusiveHold() != null;
    }

    /**
     * A hold for which a request waits.
     *
     * @param isBehindWriter whether the request is a reader behind a writer, which waits for the hold
     */
    record Blocker(LocalHold hold, boolean isBehindWriter) {}

    /**
     * What a process knows of a request that waits.
     *
     * @param isBehindWriter whether a writer's request is before it in the queue of this process
     * @param queued the claim of this process in the store's queue; null if there is none
     * @param isDraining whether this process has a grant that serves no further request, since others wait for it
     */
    record WaitState(
            boolean isReader,
            boolean isBehindWriter,
            boolean isHead,
            @Nullable ClaimRef queued,
            boolean isDraining) {}

    /**
     * The holds of threads of this process for which a request waits, and which last until they are released; empty if
     * it no longer waits. A reader waits for readers only behind a writer of this process.
     */
    List<Blocker> blockersOf(Request request) {
        List<Blocker> blockers = new ArrayList<>();
        lock();
        try {
            if (request.isQueued() && !request.isDone()) {
                boolean isExclusive = !request.isShare() || queue.hasBefore(request, before -> !before.isShare());
                for (Grant grant = grants.first(); grant != null; grant = grant.next) {
                    for (LocalHold hold : grant.holds()) {
                        if (isExclusive || !hold.isShare()) {
                            blockers.add(new Blocker(hold, request.isShare() && hold.isShare()));
                        }
                    }
                }
            }
        } finally {
            unlock();
        }
        // Not under the lock: this ends a hold that is found to have expired.
        blockers.removeIf(blocker -> !blocker.hold().isLastingAndOwned());
        return blockers;
    }

    /** Does something with each hold of a thread of this process. */
    void eachOwnedHold(Consumer<LocalHold> action) {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive != null) {
            action.accept(exclusive);
        } else if (policy.hasReaders()) {
            decide(deferred -> grants.all()).forEach(grant -> holdsOf(grant).forEach(action));
        }
    }

    private List<LocalHold> holdsOf(Grant grant) {
        return decide(deferred -> grant.holds());
    }

    /** What this process knows of a request that waits; null if it does not wait. */
    @Nullable
    WaitState stateOf(Request request) {
        lock();
        try {
            if (!request.isQueued() || request.isDone()) {
                return null;
            }
            Grant grant = grants.first();
            return new WaitState(
                    request.isShare(),
                    queue.hasBefore(request, before -> !before.isShare()),
                    request == queue.head(),
                    claims == null ? null : claims.queuedRef(),
                    grant != null && grant.claim.isHeld() && grant.isSpent());
        } finally {
            unlock();
        }
    }

    /** A hold that owns itself and that a thread requested; null if there is none. */
    @Nullable
    LocalHold unownedHoldFor(Thread thread) {
        lock();
        try {
            for (Grant grant = grants.first(); grant != null; grant = grant.next) {
                for (LocalHold hold : grant.holds()) {
                    if (hold.isUnownedFor(thread)) {
                        return hold;
                    }
                }
            }
            return null;
        } finally {
            unlock();
        }
    }

    @Override
    public void name(LocalHold hold) {
        step(deferred -> {
            if (hold.isOver()) {
                throw new IllegalStateException("The permits of '" + name + "' were already released");
            }
            hold.grant().noteNamed();
        });
    }

    @Override
    public CompletableFuture<ReleaseOutcome> release(LocalHold hold, CallerMode caller) {
        try {
            return decide(deferred -> release(hold, caller, deferred));
        } catch (Throwable t) {
            Failsafe.log("a release (it will be retried)", t);
            context().environment().schedule(RETRY_RELEASE_NANOS, () -> {
                var unused = release(hold, CallerMode.ASYNC);
            });
            return decide(deferred -> hold.releaseStage());
        }
    }

    /** May be repeated if it throws, for nothing else can end the hold. */
    private CompletableFuture<ReleaseOutcome> release(LocalHold hold, CallerMode caller, DeferredActions deferred) {
        Grant grant = hold.grant();
        for (int i = 0; i < YIELDS && caller == CallerMode.BLOCKING && isNextOwnerLate(grant); i++) {
            letOthersRun();
        }
        if (hold.loss() == null && !partition.validity.mayOutlastHold(grant.claim)) {
            claims().lose(
                            grant,
                            grant.claim.fixedLease == null ? Loss.Cause.EXPIRED : Loss.Cause.LEASE_ENDED,
                            deferred);
            deferred.add(() -> partition.validity.expireIfDue(grant.claim));
        }
        CompletableFuture<ReleaseOutcome> stage = hold.releaseStage();
        if (hold.loss() != null) {
            claims().closeLost(hold, hold.leaving(caller, stage), deferred);
            deferred.add(() -> stage.complete(ReleaseOutcome.LOST));
            serveQueue(deferred);
        } else {
            hold.end();
            grants.leave(grant, hold);
            GrantNote note = grant.noteOrNull();
            if (note != null) {
                note.left(hold, deferred);
            }
            afterRelease(grant, hold, stage, caller, deferred);
        }
        tidy();
        return stage;
    }

    /** Whether a grant is being handed over, and no request waits for it any more. */
    private boolean isNextOwnerLate(Grant grant) {
        return queue.isEmpty() && grant.wasHandedOver() && grant.hasSlice();
    }

    @SuppressWarnings("ThreadPriorityCheck") // a hint: only speed depends on it
    private void letOthersRun() {
        unlock();
        try {
            Thread.yield();
        } finally {
            lock();
        }
    }

    /** A hold has ended: hands its grant over, keeps it, or releases it. */
    private void afterRelease(
            Grant grant,
            LocalHold hold,
            CompletableFuture<ReleaseOutcome> stage,
            CallerMode caller,
            DeferredActions deferred) {
        Request first = queue.head();
        // In doubt only the store knows whether the hold was good to its end.
        boolean inDoubt = !partition.validity.mayHandOn(grant.claim);
        if (!grant.isIdle()) {
            deferred.add(
                    inDoubt
                            ? () -> partition.driver.confirm(grant.claim, stage)
                            : () -> stage.complete(ReleaseOutcome.RELEASED));
            return;
        }
        Runnable leaving = hold.leaving(caller, stage);
        if (leaving != null) {
            claims().leave(grant);
            deferred.add(leaving);
            serveQueue(deferred);
            return;
        }
        boolean isWorthKeeping = first != null || isKeptIdle(grant);
        if (!isWorthKeeping || context().isClosing() || !grant.mayServeOthers() || inDoubt) {
            claims().giveBack(grant, caller, new ReleaseResult(hold, inDoubt, now(), stage), deferred);
            serveQueue(deferred);
            return;
        }
        deferred.add(() -> stage.complete(ReleaseOutcome.RELEASED));
        if (first == null) {
            keep(grant, deferred);
        } else if (!mustWatch(grant, first, deferred)) {
            serveQueue(deferred);
        }
    }

    @Override
    public void downgrade(LocalHold hold) {
        step(deferred -> {
            Grant grant = hold.grant();
            if (hold.loss() != null || !grant.claim.isHeld() || grant.soleHold() != hold) {
                return;
            }
            hold.shrink();
            grants.share(grant, hold);
            if (queue.isEmpty()) {
                claims().shrink(grant, 1, deferred);
            } else {
                leaveRoomLater(grant, deferred);
            }
            serveQueue(deferred);
            tidy();
        });
    }

    // ---- Timers

    /** Whether an idle grant is kept: otherwise readers that come and go would ask the store each time. */
    private boolean isKeptIdle(Grant grant) {
        return grant.wasShared() && policy.hasReaders() && context().cohortBudgetNanos() > 0 && !grant.isSpent();
    }

    private void keep(Grant grant, DeferredActions deferred) {
        if (!isKeepingGrant) {
            isKeepingGrant = true;
            int servedBefore = grant.served();
            stepLater(KEEP_NANOS, then -> endKeeping(servedBefore, then), deferred);
        }
    }

    private void endKeeping(int servedBefore, DeferredActions deferred) {
        isKeepingGrant = false;
        Grant grant = grants.first();
        if (grant != null && grant.claim.isHeld() && grant.isIdle() && queue.isEmpty()) {
            if (grant.served() != servedBefore
                    && isKeptIdle(grant)
                    && !context().isClosing()) {
                keep(grant, deferred);
            } else {
                claims().giveBack(grant, deferred);
            }
        }
        tidy();
    }

    /**
     * A writer that leaves its grant to readers of this process would keep other readers out for as long as they read.
     * While they come and go that does not matter: the grant serves the next writer too, and its budget is bounded.
     */
    private void leaveRoomLater(Grant grant, DeferredActions deferred) {
        if (grant.scheduleShrink()) {
            int servedBefore = grant.served();
            stepLater(context().cohortBudgetNanos(), then -> leaveRoom(grant, servedBefore, then), deferred);
        }
    }

    private void leaveRoom(Grant grant, int servedBefore, DeferredActions deferred) {
        grant.endShrinkSchedule();
        if (grant.claim.isHeld() && grant.claim.weight() > 1 && grant.soleHold() == null && !grant.isIdle()) {
            if (grant.served() == servedBefore) {
                claims().shrink(grant, 1, deferred);
            } else {
                leaveRoomLater(grant, deferred);
            }
        }
        tidy();
    }

    /** Withdraws the main claim later, if no request needs it then. */
    private void dropClaimLater(DeferredActions deferred) {
        if (!isDropScheduled) {
            isDropScheduled = true;
            stepLater(
                    KEEP_NANOS,
                    then -> {
                        isDropScheduled = false;
                        proceed(then);
                    },
                    deferred);
        }
    }

    // ---- Answers of the store

    @Override
    public void granted(Claim claim, Reply.Granted reply, long sentAt, DeferredActions deferred) {
        Request outOfOrder = claims().servedOutOfOrder(claim);
        Grant grant = claims().granted(claim, reply, sentAt, queue, deferred);
        if (grant != null && grant.claim.isHeld() && outOfOrder != null && outOfOrder.isQueued()) {
            handOver(grant, outOfOrder, deferred);
        }
        proceed(deferred);
    }

    @Override
    public void queued(Claim claim, DeferredActions deferred) {
        claims().queued(claim, deferred);
        Request first = queue.head();
        if (first != null) {
            first.setAskedFor(false);
        }
        proceed(deferred);
    }

    @Override
    public void notGranted(
            Claim claim,
            Claim.Denial denial,
            @Nullable String detail,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        if (denial == Claim.Denial.UNREACHABLE) {
            if (!claim.isDead()) {
                end(request -> true, detail, why, deferred);
            }
        } else {
            ResourceClaims.Pending pending = claims().refused(claim, deferred);
            if (pending != null) {
                refused(claim, pending, denial, detail, why, deferred);
            }
        }
        proceed(deferred);
    }

    private void refused(
            Claim claim,
            ResourceClaims.Pending pending,
            Claim.Denial denial,
            @Nullable String detail,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        Request only = pending.only();
        if (denial == Claim.Denial.TAKEN && only != null) {
            // It suits no other request, and thousands may try at the same time.
            if (only.isQueued() && (only.isTry() || !pending.isBarging())) {
                queue.remove(only);
                end(only, detail, why, deferred);
            }
            return;
        }
        Predicate<Request> condition = switch (denial) {
            case TAKEN ->
                request -> claims().suits(claim, pending, request) && (request.isTry() || !pending.isBarging());
            case TOO_HEAVY -> request -> request.weight() >= claim.weight();
            case REFUSED, UNREACHABLE -> request -> true;
        };
        end(condition, detail, why, deferred);
    }

    private void end(
            Predicate<Request> condition,
            @Nullable String whoHasIt,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        queue.end(condition, request -> end(request, whoHasIt, why, deferred));
    }

    private static void end(
            Request request,
            @Nullable String whoHasIt,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        if (why == null) {
            request.refuse(whoHasIt, deferred);
        } else {
            request.fail(why, deferred);
        }
    }

    @Override
    public void vanished(Claim claim, DeferredActions deferred) {
        claims().vanished(claim, deferred);
        proceed(deferred);
    }

    @Override
    public void advanced(Claim claim, Reply.@Nullable Advanced reply, DeferredActions deferred) {
        claims().advanced(claim, reply);
        proceed(deferred);
    }

    @Override
    public void withdraw(Claim dead, DeferredActions deferred) {
        claims().withdraw(dead, deferred);
        proceed(deferred);
    }

    @Override
    public void pollFailed(Claim claim) {
        claims().pollFailed(claim);
    }

    @Override
    public void expired(Claim claim, Loss.Cause cause) {
        step(deferred -> {
            if (claims().expire(claim, cause, deferred)) {
                serveQueue(deferred);
                tidy();
            }
        });
    }

    // ---- Sessions and audits

    /** A session was opened or renewed: requests and grants that waited for it continue. */
    void resume() {
        step(this::proceed);
    }

    /** All claims and grants of a session have ended. */
    void sessionOver(Session session, Loss.Cause cause) {
        step(deferred -> {
            claims().sessionOver(session, cause, deferred);
            queue.renewNewcomers();
            proceed(deferred);
        });
    }

    /** No session can be opened: requests fail that were queued before this attempt. */
    void failQueuedBefore(long attempt, Supplier<RuntimeException> why) {
        fail(request -> request.sessionAttemptsBefore() < attempt, why);
    }

    /** Fails all requests. */
    void failAll(Supplier<RuntimeException> why) {
        fail(request -> true, why);
    }

    // In one step: otherwise each request would ask the store in turn, and a store that answers at once would answer
    // each within the answer to the one before.
    private void fail(Predicate<Request> condition, Supplier<RuntimeException> why) {
        step(deferred -> {
            end(condition, null, why, deferred);
            proceed(deferred);
        });
    }

    /** The session was renewed: hand-overs that waited for the end of a doubt continue, and fixed leases are polled. */
    void resumeAfterDoubt() {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive != null && exclusive.claim().fixedLease == null) {
            return;
        }
        List<Claim> fixedLeases = new ArrayList<>();
        step(deferred -> {
            proceed(deferred);
            for (Grant grant : grants.all()) {
                if (grant.claim.fixedLease != null && !grant.isIdle()) {
                    fixedLeases.add(grant.claim);
                }
            }
        });
        fixedLeases.forEach(partition.validity::resolveDoubt);
    }

    /** Ends live holds whose owners are threads that have died, and closes their lost holds. */
    void checkOwners() {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive == null ? policy.isShared() : exclusive.isOrphan()) {
            step(deferred -> {
                for (Grant grant : grants.all()) {
                    grant.holds().stream()
                            .filter(LocalHold::isOrphan)
                            .forEach(orphan -> claims().ownerDied(orphan, deferred));
                }
                proceed(deferred);
            });
        }
        ResourceClaims present = claims;
        if (present != null && present.hasLostHolds()) {
            step(deferred -> {
                claims().closeAbandoned(deferred);
                serveQueue(deferred);
                tidy();
            });
        }
    }

    /** Compares what the store has with what this resource expects. */
    void audit(SessionUser.Audit audit) {
        step(deferred -> {
            if (claims().audit(audit, deferred)) {
                serveQueue(deferred);
            }
            for (Grant grant = grants.first(); grant != null; grant = grant.next) {
                GrantNote note = grant.noteOrNull();
                if (note != null) {
                    note.refresh(deferred);
                }
            }
            tidy();
        });
    }

    /** Whether a claim is one of this resource. */
    boolean knows(ClaimRef ref) {
        return decide(deferred -> {
            boolean isKnown = claims().knows(ref);
            tidy();
            return isKnown;
        });
    }

    /** The client is closed: requests fail, holds are lost. */
    void shut(Supplier<RuntimeException> why) {
        failAll(why);
        List<Claim> granted = new ArrayList<>();
        step(deferred -> grants.all().forEach(grant -> granted.add(grant.claim)));
        granted.forEach(claim -> expired(claim, Loss.Cause.CLIENT_CLOSED));
    }

    /** The claim or grant of this identity; null if it is not here. */
    @Nullable
    Claim claimOf(ClaimRef ref) {
        lock();
        try {
            Claim found = claims().find(ref);
            tidy();
            return found;
        } finally {
            unlock();
        }
    }

    /** The number of live holds. */
    public int holds() {
        return decide(deferred -> grants.holdCount());
    }

    /** The number of requests in the queue. */
    public int waiting() {
        return decide(deferred -> queue.size());
    }
}
