package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.local.KindPolicy.HandOver;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The grants of a resource, the idle ones first, with the hold that excludes all others, and the end of the newest
 * slice. Most resources have one grant, a semaphore may have thousands. Guarded by the lock of the resource; what
 * leaves it goes to the deferred actions.
 */
final class Grants {

    /**
     * The pause between requests for tokens, once a lock is handed over as fast as the store's clock gives them: more
     * requests would not bring more tokens, and each writes at the store.
     */
    private static final long SCARCE_TOKENS_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * The slice of an owner that asks again: a few context switches long, so that 500 waiters all have theirs within
     * about a tenth of a second.
     */
    private static final long SLICE_NANOS = 200_000;

    /**
     * How long readers pass a writer at the head of the queue: long enough for the cost of stopping and waking all of
     * them not to matter.
     */
    private static final long SHARED_SLICE_NANOS = 1_000_000;

    private final Resource resource;
    private @Nullable Grant first;
    private @Nullable Grant last;

    /** The hold that excludes all others; null if there is none, and for a semaphore. Read without the lock too. */
    private volatile @Nullable LocalHold exclusiveHold;

    /** When the newest slice ends. */
    private long sliceEnd;

    /**
     * A measure of the tokens that the next cohort needs: what the largest of the last few used. A quarter is forgotten
     * with each smaller one, so that one short turn does not make the next one short too.
     */
    private int recentUse;

    Grants(Resource resource) {
        this.resource = resource;
    }

    Resource resource() {
        return resource;
    }

    // ---- The list

    boolean isEmpty() {
        return first == null;
    }

    /** The first grant; an idle one if any is. */
    @Nullable
    Grant first() {
        return first;
    }

    /**
     * The first grant that a new request may enter: an idle one, or any if grants are shared. The others are not
     * visited, however many there are.
     */
    @Nullable
    Grant firstCandidate() {
        return candidate(first);
    }

    /** The grant that serves a request without queueing it; null if there is none. */
    @Nullable
    Grant servingAtOnce(Request request, boolean isFirst) {
        for (Grant grant = firstCandidate(); grant != null; grant = candidateAfter(grant)) {
            if (grant.canServe(request) && (isFirst || (!request.isTry() && grant.isSliceOf(request)))) {
                return grant;
            }
        }
        return null;
    }

    @Nullable
    Grant candidateAfter(Grant grant) {
        return candidate(grant.next);
    }

    private @Nullable Grant candidate(@Nullable Grant grant) {
        return grant != null && (grant.isIdle() || resource.policy.isShared()) ? grant : null;
    }

    boolean has(Grant grant) {
        return grant == first || grant.previous != null;
    }

    /** Adds a grant without holds. */
    void add(Grant grant) {
        grant.previous = null;
        grant.next = first;
        if (first == null) {
            last = grant;
        } else {
            first.previous = grant;
        }
        first = grant;
    }

    /** Removes a grant; whether it was here. */
    boolean remove(Grant grant) {
        if (!has(grant)) {
            return false;
        }
        if (grant.previous == null) {
            first = grant.next;
        } else {
            grant.previous.next = grant.next;
        }
        if (grant.next == null) {
            last = grant.previous;
        } else {
            grant.next.previous = grant.previous;
        }
        grant.previous = null;
        grant.next = null;
        return true;
    }

    private void moveToEnd(Grant grant) {
        if (grant != last) {
            remove(grant);
            Grant before = last;
            grant.previous = before;
            if (before == null) {
                first = grant;
            } else {
                before.next = grant;
            }
            last = grant;
        }
    }

    private void moveToFront(Grant grant) {
        if (grant != first) {
            remove(grant);
            add(grant);
        }
    }

    @Nullable
    Grant find(ClaimRef ref) {
        for (Grant grant = first; grant != null; grant = grant.next) {
            if (grant.claim.is(ref)) {
                return grant;
            }
        }
        return null;
    }

    /** A copy of the list, to be iterated while it changes. */
    List<Grant> all() {
        List<Grant> all = new ArrayList<>();
        for (Grant grant = first; grant != null; grant = grant.next) {
            all.add(grant);
        }
        return all;
    }

    /** Whether an unused grant serves a request as soon as the store has confirmed it. */
    boolean hasIdleFor(Request request) {
        for (Grant grant = first; grant != null; grant = grant.next) {
            if (grant.isIdle() && grant.claim.isHeld() && grant.suits(request)) {
                return true;
            }
        }
        return false;
    }

    // ---- Holds

    @Nullable
    LocalHold exclusiveHold() {
        return exclusiveHold;
    }

    int holdCount() {
        int count = 0;
        for (Grant grant = first; grant != null; grant = grant.next) {
            count += grant.holdCount();
        }
        return count;
    }

    /** The live hold of a thread that shares a grant. */
    @Nullable
    LocalHold sharedHoldOf(Thread thread) {
        if (resource.policy.hasReaders()) {
            for (Grant grant = first; grant != null; grant = grant.next) {
                LocalHold hold = grant.holdOf(thread);
                if (hold != null) {
                    return hold;
                }
            }
        }
        return null;
    }

    /** A request is served by a hold under a grant. */
    void enter(Grant grant, LocalHold hold, Request request) {
        if (request.isShare() || grant.hasServed()) {
            grant.passSliceTo(request, sliceNanos(request.isShare() ? SHARED_SLICE_NANOS : SLICE_NANOS));
            if (grant.sliceEnd() - sliceEnd > 0) {
                sliceEnd = grant.sliceEnd();
            }
        }
        grant.add(hold);
        moveToEnd(grant);
        if (!resource.policy.hasSeveralGrants()) {
            exclusiveHold = grant.soleHold();
        }
    }

    /** A hold was released. */
    void leave(Grant grant, LocalHold hold, DeferredActions deferred) {
        removeHold(grant, hold, deferred);
        grant.released();
        if (grant.isIdle() && has(grant)) {
            moveToFront(grant);
        }
    }

    /** A hold has ended; its grant may have been removed before. */
    void removeHold(Grant grant, LocalHold hold, DeferredActions deferred) {
        grant.remove(hold);
        if (exclusiveHold == hold) {
            exclusiveHold = null;
        }
        GrantNote note = grant.noteOrNull();
        if (note != null) {
            note.left(hold, deferred);
        }
    }

    /** Sends annotations again that the store may not have, or may soon drop. */
    void refreshNotes(DeferredActions deferred) {
        for (Grant grant = first; grant != null; grant = grant.next) {
            GrantNote note = grant.noteOrNull();
            if (note != null) {
                note.refresh(deferred);
            }
        }
    }

    /** Adds to a list the grants with their own leases that are in use. */
    void addFixedLeases(List<Claim> found) {
        for (Grant grant = first; grant != null; grant = grant.next) {
            if (grant.claim.fixedLease != null && !grant.isIdle()) {
                found.add(grant.claim);
            }
        }
    }

    /** A write hold becomes a read hold. */
    void share(Grant grant, LocalHold hold) {
        grant.share(hold);
        exclusiveHold = null;
        grant.beginSharedSlice(sliceNanos(SHARED_SLICE_NANOS));
    }

    // ---- Slices

    private long sliceNanos(long usual) {
        return Math.min(usual, resource.context().cohortBudgetNanos());
    }

    /** The first request begins to wait: those who share have a slice from now. */
    void beginSharedSlice() {
        Grant grant = first;
        if (grant != null && grant.isSliceShared()) {
            grant.beginSharedSlice(sliceNanos(SHARED_SLICE_NANOS));
            sliceEnd = grant.sliceEnd();
        }
    }

    /** Checks the slices of the idle grants for the head of the queue; whether it takes one of them now. */
    boolean checkIdle(long now) {
        boolean isToBeTaken = false;
        for (Grant grant = first; grant != null && grant.isIdle(); grant = grant.next) {
            isToBeTaken |= grant.checkSlice(now);
        }
        return isToBeTaken;
    }

    /** Whether all are in use and no slice is left: the next release hands over, and the head need not stay awake. */
    boolean isNextReleaseHandedOver(long now) {
        return first != null && !first.isIdle() && now - sliceEnd >= 0;
    }

    // ---- Cohorts

    /**
     * Prepares for hand-overs of a grant: asks for tokens in time, and asks whether others wait before the budget is
     * spent. If the thread that got the hold is the present one, a timer asks for the tokens: a write takes time on
     * some stores, and everyone waits for that thread.
     */
    void prepareHandOver(Grant grant, Request served, RequestQueue queue, DeferredActions deferred) {
        long now = resource.now();
        CohortState cohort = grant.cohortFrom(now);
        // A grant with its own lease is never handed over: it needs no more tokens.
        boolean needsTokens =
                !grant.isBound() && (!resource.policy.isShared() || (grant.claim.weight() > 1 && !queue.isEmpty()));
        boolean mayAsk = cohort.spare == null && !cohort.isAdvancing();
        if (needsTokens && mayAsk && grant.tokensLeft() <= cohort.used && grant.isAdvanceInTime()) {
            advance(grant, queue, served.waiter == Thread.currentThread(), deferred);
        }
        boolean mustAsk = switch (resource.handOver()) {
            case BUDGETED -> cohort.askIfDue(now, grant.questionLeadNanos());
            case UNAWAITED -> !cohort.isAwaited() && cohort.window.askInTime(now);
            case NEVER -> false;
        };
        if (mustAsk) {
            poll(grant, deferred);
        }
    }

    /** Asks whether others wait at the store, unless such a question is in flight: a hand-over waits for the answer. */
    void ask(Grant grant, DeferredActions deferred) {
        long now = resource.now();
        if (grant.cohortFrom(now).window.askNow(now)) {
            poll(grant, deferred);
        }
    }

    private void poll(Grant grant, DeferredActions deferred) {
        deferred.add(() -> resource.partition.driver.poll(grant.claim));
    }

    /** Asks for the next block of tokens, unless such a request is in flight. */
    void advance(Grant grant, RequestQueue queue, DeferredActions deferred) {
        advance(grant, queue, false, deferred);
    }

    private void advance(Grant grant, RequestQueue queue, boolean isByTimer, DeferredActions deferred) {
        long now = resource.now();
        CohortState cohort = grant.cohortFrom(now);
        if (!cohort.isAdvancing()) {
            long delay = cohort.pauseNanos(now, SCARCE_TOKENS_NANOS);
            long end = grant.blockEnd();
            int tokens = tokensToAsk(queue);
            cohort.ask(tokens, now + delay);
            deferred.add(
                    isByTimer || delay > 0
                            ? () -> resource.context()
                                    .environment()
                                    .schedule(
                                            delay,
                                            () -> resource.partition.driver.advanceIfHeld(grant.claim, end, tokens))
                            : () -> resource.partition.driver.advance(grant.claim, end, tokens));
        }
    }

    /**
     * One unless other requests wait here or a grant was handed over; otherwise twice what this cohort used, or the
     * largest of the last few, and with strict order enough for all that wait.
     */
    int tokensToAsk(RequestQueue queue) {
        CohortState cohort = first == null ? null : first.cohort();
        int used = cohort == null ? recentUse : Math.max(cohort.used, recentUse);
        boolean isHandedOver = first != null && first.served() > 1;
        if (!isHandedOver && (queue.isEmpty() || (!queue.hasSeveral() && used == 0))) {
            return 1;
        }
        int batch = resource.handOver() == HandOver.UNAWAITED ? queue.size() : 0;
        return CohortState.blockAfter(Math.max(used, batch / 2 + 1));
    }

    /** A grant ends; whether it was here. */
    boolean end(Grant grant) {
        CohortState cohort = grant.cohort();
        if (cohort != null) {
            recentUse = Math.max(cohort.used, recentUse - recentUse / 4);
        }
        return remove(grant);
    }
}
