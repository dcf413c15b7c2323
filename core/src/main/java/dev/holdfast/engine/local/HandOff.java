package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.Order;

/*
 * Within a process the order is neither purely first in, first out, which costs two context switches for each
 * hand-off, nor free for all, which starves. The owner that lets go has its turn a little longer (TURN_NANOS from
 * the moment it was handed the lock): if it asks again it is served at once. Meanwhile the head of the queue is awake
 * and looks at short intervals; it takes the lock when its owner stays away between two looks, and is handed it by
 * the first release after the turn. So a hot lock runs at memory speed, and each of n waiting threads has its turn
 * after n turns. Those who share a grant have their turn together: readers go on past a writer at the head until it is
 * over.
 */
/**
 * Hands the grants of a resource from request to request in memory, turn by turn. All but {@link #look} is called under
 * the lock of the resource.
 */
final class HandOff {
    /**
     * How long an owner that asks again keeps its turn: a few context switches, so that 500 waiters all have theirs
     * within about a tenth of a second.
     */
    private static final long TURN_NANOS = 200_000;

    /**
     * How long those who share go on past one at the head who wants to be alone: enough for what it costs to stop and
     * to wake all of them not to count.
     */
    private static final long SHARED_TURN_NANOS = 1_000_000;

    private HandOff() {}

    /** Serves a request that need not queue, if there is a grant for it. */
    static boolean serveAtOnce(LocalSynchronizer resource, Request request, DeferredActions out) {
        boolean isFirst = resource.queue.isEmpty() || (request.isTry && resource.spec.order() == Order.BARGING);
        for (LocalGrant held = resource.claims.firstGrant();
                held != null && (held.isIdle() || resource.policy.isShared());
                held = held.nextGrant) {
            if (canServe(resource, held, request) && (isFirst || (!request.isTry && held.isTurnOf(request)))) {
                return serve(resource, held, request, out);
            }
        }
        return false;
    }

    /** The head of the queue wants to be alone: those who share have a turn from now. */
    static void beginSharedTurn(LocalSynchronizer resource) {
        LocalGrant held = resource.claims.firstGrant();
        if (held != null && held.isTurnShared()) {
            beginSharedTurn(resource, held);
            resource.turnsEnd = held.turnEnds();
        }
    }

    /** Those who share a grant have a turn from now. */
    static void beginSharedTurn(LocalSynchronizer resource, LocalGrant held) {
        held.beginSharedTurn(turnNanos(resource, SHARED_TURN_NANOS));
    }

    private static long turnNanos(LocalSynchronizer resource, long usual) {
        return Math.min(usual, resource.partition.context.cohortBudgetNanos());
    }

    /** The head of the queue looks whether the turn before it is over. */
    static void look(LocalSynchronizer resource, Request request) {
        DeferredActions out = new DeferredActions();
        resource.lock.lock();
        try {
            if (request.isDone() || request != resource.queue.head() || resource.claims.isWithoutGrants()) {
                request.isWatching = false;
                return;
            }
            long now = resource.now();
            boolean isFree = false;
            boolean isToBeTaken = false;
            for (LocalGrant held = resource.claims.firstGrant(); held != null && held.isIdle(); held = held.nextGrant) {
                isFree = true;
                isToBeTaken |= held.checkTurn(now);
            }
            if (isToBeTaken) {
                request.isWatching = false;
                resource.pursue(out);
            } else if (!isFree && now - resource.turnsEnd >= 0) {
                // The next release hands over: no need to stay awake.
                request.isWatching = false;
            }
        } finally {
            resource.lock.unlock();
            out.send();
        }
    }

    private static boolean canServe(LocalSynchronizer resource, LocalGrant held, Request request) {
        return held.state == Claim.State.HELD
                && held.suits(request)
                && held.hasRoomFor(request)
                && (held.isIdle() || !held.isSpent())
                && resource.partition.validity.mayHandOn(held);
    }

    /** Makes a hold for a request that is not queued any more; false when there is no token for it yet. */
    private static boolean serve(LocalSynchronizer resource, LocalGrant held, Request request, DeferredActions out) {
        boolean needsToken = held.needsTokenFor(request);
        long token = needsToken ? held.nextToken() : held.newestToken();
        if (token == 0) {
            return false;
        }
        LocalHold hold = request.mode.holds().make(resource, held, request, token);
        if (request.isShare() || held.hasServed()) {
            held.passTurnTo(request, turnNanos(resource, request.isShare() ? SHARED_TURN_NANOS : TURN_NANOS));
            if (held.turnEnds() - resource.turnsEnd > 0) {
                resource.turnsEnd = held.turnEnds();
            }
        }
        held.take(hold);
        resource.claims.toTheEnd(held);
        if (!resource.policy.hasSeveralGrants()) {
            resource.current = held.tenant();
        }
        RequestCompletion.end(resource.partition.context, request, hold, null, out);
        if (request.isShare() && resource.policy.exceedsShares(held.weight)) {
            resource.lingering().leaveRoomLater(held, out);
        }
        if (resource.policy.claimsMayBecomeUnwanted() && !resource.claims.isWanted(resource.queue)) {
            resource.lingering().dropLater(out);
        }
        if (!resource.policy.grantsPasses() && (!resource.queue.isEmpty() || !needsToken)) {
            resource.claims.foresee(held, resource.queue, out);
        }
        return true;
    }

    /** Whether the head of the queue has to leave a grant to those whose turn it is, as long as they may come again. */
    static boolean mustWatch(LocalSynchronizer resource, LocalGrant held, Request first, DeferredActions out) {
        if (first.waiter == null || !held.isTurnOfOthers(first.waiter)) {
            return false;
        }
        if (!first.isWatching && canServe(resource, held, first) && !resource.claims.mustYield(held, first)) {
            first.isWatching = true;
            held.beginWatch();
            out.add(first::wake);
        }
        return first.isWatching;
    }

    /**
     * Hands a grant to the first requests that it suits, as far as there is room; or, when nobody uses it, yields it or
     * gives it back.
     */
    static void passOn(LocalSynchronizer resource, LocalGrant held, DeferredActions out) {
        boolean goesOn = true;
        while (goesOn && held.state == Claim.State.HELD) {
            Request first = resource.queue.head();
            if (first == null) {
                if (held.isIdle() && !resource.isLingering()) {
                    resource.claims.giveBack(held, out);
                }
                return;
            }
            boolean isToDrain = resource.policy.isShared() && !held.isIdle();
            if (isToDrain && !(held.suits(first) && held.hasRoomFor(first) && !held.isSpent())) {
                return;
            }
            goesOn = passOn(resource, held, first, out) && resource.policy.isShared();
        }
    }

    /** Hands a grant to the head of the queue, or to one that goes past it; whether it did. */
    static boolean passOn(LocalSynchronizer resource, LocalGrant held, Request first, DeferredActions out) {
        if (!resource.partition.validity.mayPassOn(held)) {
            out.add(() -> resource.partition.validity.expireIfDue(held));
        } else if (!resource.partition.validity.mayHandOn(held)) {
            out.add(() -> resource.partition.validity.resolveDoubt(held));
        } else if (resource.policy.grantsPasses() && !held.suits(first)) {
            if (!held.isCovering) {
                resource.claims.giveBack(held, out);
            }
        } else if (resource.claims.mustYield(held, first)) {
            resource.claims.giveWay(held, first, resource.queue, out);
        } else {
            resource.queue.remove(first);
            try {
                if (serve(resource, held, first, out)) {
                    return true;
                }
            } finally {
                if (!first.isDone()) {
                    resource.queue.prepend(first);
                }
            }
            resource.claims.advance(held, resource.queue, out);
        }
        return false;
    }
}
