package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who waits and who holds at one resource, as the search for deadlocks wants to know it. Made for one question and used
 * under the lock of the resource; changes nothing.
 */
record WaitView(RequestQueue queue, Grants grants, @Nullable ResourceClaims claims) {

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

    /** All live holds. */
    List<LocalHold> holds() {
        List<LocalHold> all = new ArrayList<>();
        for (Grant grant = grants.first(); grant != null; grant = grant.next) {
            all.addAll(grant.holds());
        }
        return all;
    }

    /**
     * The holds for which a request waits; none if it no longer waits. A reader waits for readers only behind a writer
     * of this process.
     */
    List<Blocker> blockersOf(Request request) {
        List<Blocker> blockers = new ArrayList<>();
        if (isWaiting(request)) {
            boolean isExclusive = !request.isShare() || isBehindWriter(request);
            for (LocalHold hold : holds()) {
                if (isExclusive || !hold.isShare()) {
                    blockers.add(new Blocker(hold, request.isShare() && hold.isShare()));
                }
            }
        }
        return blockers;
    }

    /** What this process knows of a request that waits; null if it does not wait. */
    @Nullable
    WaitState stateOf(Request request) {
        if (!isWaiting(request)) {
            return null;
        }
        Grant grant = grants.first();
        return new WaitState(
                request.isShare(),
                isBehindWriter(request),
                request == queue.head(),
                claims == null ? null : claims.queuedRef(),
                grant != null && grant.claim.isHeld() && grant.isSpent());
    }

    private static boolean isWaiting(Request request) {
        return request.isQueued() && !request.isDone();
    }

    private boolean isBehindWriter(Request request) {
        return queue.hasBefore(request, before -> !before.isShare());
    }

    /** A hold that owns itself and that a thread requested; null if there is none. */
    @Nullable
    LocalHold unownedHoldFor(Thread thread) {
        return holds().stream()
                .filter(hold -> hold.isUnownedFor(thread))
                .findFirst()
                .orElse(null);
    }
}
