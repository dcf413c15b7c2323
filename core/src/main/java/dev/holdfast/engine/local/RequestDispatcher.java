package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.ClaimListener;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * Local requests queue here, first in, first out. While there are any, the resource keeps one claim in the store's
 * queue. When that is granted, the grant is handed from request to request in memory, each with the next token of its
 * block. It is released when no request wants it, yielded for a new place at the tail when its budget is spent and
 * others wait at the store, or lost.
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
 * they pass a writer at the head until it ends.
 */

/**
 * Serves the requests of this process for one resource: hands them the grants that there are, asks the store for the
 * others, and decides how long a grant stays that no request uses. What changes the grants is in
 * {@link LocalSynchronizer}.
 *
 * <p>Three objects own the state: {@link RequestQueue} (who waits), {@link ResourceClaims} (what was asked of the
 * store) and {@link Grants} (what the store granted). This class matches them. Two classes are one object here, because
 * a client may hold a million locks.
 */
abstract class RequestDispatcher extends Resource implements ClaimListener, HoldIssuer {

    /** How long an idle grant is kept for readers, and a claim that no request needs. */
    private static final long KEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    final Grants grants;

    // Guarded by the lock of the resource.

    /** Null while nothing is asked of the store and no request waits, as for most held locks. */
    private @Nullable ResourceClaims claims;

    private RequestQueue queue = RequestQueue.NONE;
    private boolean isRemoved;

    /** An idle grant is kept until a timer fires. */
    private boolean isKeepingGrant;

    /** A timer is set that drops the main claim if no request needs it. */
    private boolean isDropScheduled;

    RequestDispatcher(Partition partition, Registry<?> registry, ResourceName name, ResourceSpec spec) {
        super(partition, registry, name, spec);
        this.grants = new Grants(this);
    }

    final RequestQueue queue() {
        return queue;
    }

    /** What was asked of the store, made now if nothing was. */
    final ResourceClaims claims() {
        ResourceClaims present = claims;
        if (present == null) {
            present = new ResourceClaims(this, grants);
            claims = present;
        }
        return present;
    }

    /** Whether there may be lost holds that are not closed. Read without the lock. */
    final boolean mayHaveLostHolds() {
        ResourceClaims present = claims;
        return present != null && present.hasLostHolds();
    }

    final @Nullable LocalHold lostHoldOf(@Nullable Thread owner) {
        return claims == null ? null : claims.lostHoldOf(owner);
    }

    /** Answers a question about who waits and who holds, under the lock. */
    final <T extends @Nullable Object> T query(Function<WaitView, T> question) {
        lock();
        try {
            return question.apply(new WaitView(queue, grants, claims));
        } finally {
            unlock();
        }
    }

    // ---- Requests

    /**
     * Serves a request or queues it.
     *
     * @return false if this resource has left the registry: try the next one
     */
    final boolean enter(Request request) {
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
            request.fail(() -> lostHold.lostException(Loss.Cause.EXPIRED), deferred);
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

    /** Serves a request that need not queue, if there is a grant for it. */
    private boolean serveAtOnce(Request request, DeferredActions deferred) {
        boolean isFirst = queue.isEmpty() || (request.isTry() && spec.order() == Order.BARGING);
        Grant grant = grants.servingAtOnce(request, isFirst);
        return grant != null && serve(grant, request, deferred);
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
    final boolean cancel(Request request) {
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
    final boolean fail(Request request, Supplier<RuntimeException> why) {
        return decide(deferred -> {
            if (request.isDone()) {
                return false;
            }
            queue.end(request, null, why, deferred);
            proceed(deferred);
            return true;
        });
    }

    /** Whether the store has not answered what this process asked for a request. */
    final boolean isUnanswered(Request request) {
        return decide(deferred -> claims().isUnansweredSince(request.answersBefore()));
    }

    /**
     * After a time-out, lets the next answer of the store end a request, if none has come since it was queued.
     * The caller bounds the time until then.
     *
     * @return whether such an answer is outstanding; if not, nothing has changed
     */
    final boolean awaitAnswer(Request request, Duration waited) {
        return decide(deferred -> {
            if (request.isDone() || !claims().isUnansweredSince(request.answersBefore())) {
                return false;
            }
            queue.noteOverdue(request, waited);
            return true;
        });
    }

    /** The head of the queue polls whether the slice before it has ended. */
    final void poll(Request request) {
        step(deferred -> {
            long now = now();
            boolean isWatching = !request.isDone() && request == queue.head() && !grants.isEmpty();
            boolean isToBeTaken = isWatching && grants.checkIdle(now);
            if (!isWatching || isToBeTaken || grants.isNextReleaseHandedOver(now)) {
                request.setWatching(false);
            }
            if (isToBeTaken) {
                serveQueue(deferred);
            }
        });
    }

    // ---- Serving

    /** Does what the present state requires, after anything has changed. */
    @Override
    public final void proceed(DeferredActions deferred) {
        serveQueue(deferred);
        queue.endOverdue(request -> claims().isUnansweredSince(request.answersBefore()), deferred);
        if (claims().dropUnwanted(queue, deferred)) {
            serveQueue(deferred);
        }
        tidy();
    }

    /** Hands grants over, and makes sure that the head of the queue is on its way to a hold. */
    final void serveQueue(DeferredActions deferred) {
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
            queue.end(
                    request -> request.isTry()
                            && request.bargingClaim() == null
                            && !grants.hasIdleFor(request)
                            && (!policy.grantsPasses() || claims().mustWait(request)),
                    null,
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
    final boolean handOver(Grant grant, Request first, DeferredActions deferred) {
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
    final boolean mustWatch(Grant grant, Request first, DeferredActions deferred) {
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

    /**
     * Keeps only what is needed: no empty queue, unless its numbers continue, no claims that are none, and no resource
     * that is not used.
     */
    final void tidy() {
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

    // ---- Timers

    /** Whether an idle grant is kept: otherwise readers that come and go would ask the store each time. */
    final boolean isKeptIdle(Grant grant) {
        return grant.wasShared() && policy.hasReaders() && context().cohortBudgetNanos() > 0 && !grant.isSpent();
    }

    final void keep(Grant grant, DeferredActions deferred) {
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
    final void leaveRoomLater(Grant grant, DeferredActions deferred) {
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
}
