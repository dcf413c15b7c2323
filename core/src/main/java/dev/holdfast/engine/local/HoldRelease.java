package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Ends local holds: released by their owners, made read holds, or lost. */
final class HoldRelease {
    private static final long RELEASE_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * How often the last owner of a turn lets other threads run before it gives a grant back that was passed on a
     * moment ago. Being woken, it may have taken the processor of the one that handed it the lock and is about to ask
     * again: to let that run costs far less than a release and a new claim.
     */
    private static final int YIELDS = 3;

    private HoldRelease() {}

    /** Ends the outermost acquisition of a hold. Called by its owner, once. */
    static CompletableFuture<ReleaseOutcome> release(LocalSynchronizer resource, LocalHold hold, CallerMode caller) {
        try {
            return tryRelease(resource, hold, caller);
        } catch (Throwable t) {
            Failsafe.log("a release, so that it is repeated,", t);
            resource.partition.context.environment().schedule(RELEASE_AGAIN_NANOS, () -> {
                var unused = release(resource, hold, CallerMode.ASYNC);
            });
            return releaseStage(resource, hold);
        }
    }

    private static CompletableFuture<ReleaseOutcome> releaseStage(LocalSynchronizer resource, LocalHold hold) {
        resource.lock.lock();
        try {
            return hold.releaseStage();
        } finally {
            resource.lock.unlock();
        }
    }

    /** As {@link #release}; may be repeated if it throws, for nobody else can end the hold. */
    private static CompletableFuture<ReleaseOutcome> tryRelease(
            LocalSynchronizer resource, LocalHold hold, CallerMode caller) {
        DeferredActions out = new DeferredActions();
        CompletableFuture<ReleaseOutcome> stage;
        resource.lock.lock();
        try {
            LocalGrant held = hold.grant;
            for (int i = 0; i < YIELDS && caller == CallerMode.BLOCKING && missesOthers(resource, held); i++) {
                letOthersRun(resource);
            }
            if (hold.loss() == null && !resource.partition.validity.mayPassOn(held)) {
                lose(resource, held, held.own == null ? Loss.Cause.EXPIRED : Loss.Cause.LEASE_ENDED, out);
                out.add(() -> resource.partition.validity.expireIfDue(held));
            }
            stage = hold.releaseStage();
            if (hold.loss() != null) {
                forgetLost(resource, hold, hold.leaving(caller, stage), out);
                out.add(() -> stage.complete(ReleaseOutcome.LOST));
                resource.pursue(out);
            } else {
                detach(resource, held, hold);
                letGo(resource, hold, held, stage, caller, out);
            }
            resource.tidy();
        } finally {
            resource.lock.unlock();
            out.send();
        }
        return stage;
    }

    /** Whether nobody waits any more for a grant that is being passed on. */
    private static boolean missesOthers(LocalSynchronizer resource, LocalGrant held) {
        return resource.queue.isEmpty() && held.wasPassedOn() && held.isTurn();
    }

    @SuppressWarnings("ThreadPriorityCheck") // a hint: nothing but speed depends on it
    private static void letOthersRun(LocalSynchronizer resource) {
        resource.lock.unlock();
        try {
            Thread.yield();
        } finally {
            resource.lock.lock();
        }
    }

    private static void detach(LocalSynchronizer resource, LocalGrant held, LocalHold hold) {
        hold.end();
        held.leave(hold);
        if (resource.current == hold) {
            resource.current = null;
        }
        if (held.isIdle() && resource.claims.hasGrant(held)) {
            resource.claims.toTheFront(held);
        }
    }

    private static void letGo(
            LocalSynchronizer resource,
            LocalHold hold,
            LocalGrant held,
            CompletableFuture<ReleaseOutcome> stage,
            CallerMode caller,
            DeferredActions out) {
        Request first = resource.queue.head();
        // In doubt only the store can tell whether the hold was good to its end.
        boolean inDoubt = !resource.partition.validity.mayHandOn(held);
        if (!held.isIdle()) {
            out.add(
                    inDoubt
                            ? () -> resource.partition.driver.confirm(held, stage)
                            : () -> stage.complete(ReleaseOutcome.RELEASED));
            return;
        }
        Runnable leaving = hold.leaving(caller, stage);
        if (leaving != null) {
            resource.claims.forget(held);
            out.add(leaving);
            resource.pursue(out);
            return;
        }
        boolean isKept = first != null || DelayedRelease.isFor(resource, held);
        if (!isKept || resource.partition.context.isClosing() || !held.mayServeOthers() || inDoubt) {
            resource.claims.giveBack(held, caller, new ReleaseResult(hold, inDoubt, resource.now(), stage), out);
            resource.pursue(out);
            return;
        }
        out.add(() -> stage.complete(ReleaseOutcome.RELEASED));
        if (first == null) {
            resource.lingering().keep(held, out);
            return;
        }
        if (!HandOff.mustWatch(resource, held, first, out)) {
            resource.pursue(out);
        }
    }

    /** A write hold becomes a read hold: the grant goes on, and others may share it. Called by its owner. */
    static void downgrade(LocalSynchronizer resource, LocalHold hold) {
        resource.step(out -> {
            LocalGrant held = hold.grant;
            if (hold.loss() != null || held.state != Claim.State.HELD || held.tenant() != hold) {
                return;
            }
            hold.shrink();
            held.share(hold);
            resource.current = null;
            HandOff.beginSharedTurn(resource, held);
            if (resource.queue.isEmpty()) {
                resource.claims.shrink(held, 1, out);
            } else {
                resource.lingering().leaveRoomLater(held, out);
            }
            resource.pursue(out);
        });
    }

    /** Ends the holds under a grant, if there are any, as lost; the resource may be another's by now. */
    static void lose(LocalSynchronizer resource, LocalGrant held, Loss.Cause cause, DeferredActions out) {
        List<LocalHold> holds = held.holds();
        resource.claims.forget(held);
        if (holds.isEmpty()) {
            resource.claims.settle(held, new Command.Release(held.ref), out);
            return;
        }
        // At the store the grant stays until its owners let go: a slow owner keeps its margin.
        resource.lost = resource.lost.orNew();
        holds.forEach(resource.lost::add);
        holds.forEach(hold -> lose(resource, hold, cause, out));
    }

    /** Ends a hold as lost. */
    static void lose(LocalSynchronizer resource, LocalHold hold, Loss.Cause cause, DeferredActions out) {
        hold.grant.leave(hold);
        if (resource.current == hold) {
            resource.current = null;
        }
        Loss loss = new Loss(resource.name.value(), resource.partition.context.product(), hold.rawToken(), cause);
        hold.lose(loss, out);
        out.add(() -> resource.partition.context.noteLoss(loss));
    }

    /** The owner of a lost hold has closed it: with the last one what may be left at the store goes too. */
    static void forgetLost(
            LocalSynchronizer resource, LocalHold hold, @Nullable Runnable leaving, DeferredActions out) {
        resource.lost.remove(hold);
        resource.lost = resource.lost.orNone();
        if (leaving != null) {
            out.add(leaving);
        } else if (!resource.lost.hasUnder(hold.grant)) {
            resource.claims.settle(hold.grant, new Command.Release(hold.grant.ref), out);
        }
    }
}
