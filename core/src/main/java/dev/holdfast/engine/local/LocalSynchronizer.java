package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One resource in this process: its requests, which {@link RequestDispatcher} serves, and here what changes its grants.
 * Owners release their holds, the store answers, sessions begin and end, and audits find differences. Each of these
 * changes what the claims and grants are, and then serves the requests that can be served now. Thread-safe.
 */
public final class LocalSynchronizer extends RequestDispatcher {

    private static final long RETRY_RELEASE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * How often the last owner of a slice lets other threads run before it releases a grant that was handed over a
     * moment ago. When it was woken, it may have taken the processor of the thread that handed over and is about to ask
     * again: letting that thread run costs far less than a release and a new claim.
     */
    private static final int YIELDS = 3;

    /** Makes the resource of a name, which leaves {@code registry} when it is no longer used. */
    LocalSynchronizer(Partition partition, Registry<LocalSynchronizer> registry, ResourceName name, ResourceSpec spec) {
        super(partition, registry, name, spec);
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

    /** Does something with each hold of a thread of this process. */
    void eachOwnedHold(Consumer<LocalHold> action) {
        LocalHold exclusive = grants.exclusiveHold();
        if (exclusive != null) {
            action.accept(exclusive);
        } else if (policy.hasReaders()) {
            query(WaitView::holds).forEach(action);
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
            grants.leave(grant, hold, deferred);
            afterRelease(grant, hold, stage, caller, deferred);
        }
        tidy();
        return stage;
    }

    /** Whether a grant is being handed over, and no request waits for it any more. */
    private boolean isNextOwnerLate(Grant grant) {
        return queue().isEmpty() && grant.wasHandedOver() && grant.hasSlice();
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
        Request first = queue().head();
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
            if (queue().isEmpty()) {
                claims().shrink(grant, 1, deferred);
            } else {
                leaveRoomLater(grant, deferred);
            }
            serveQueue(deferred);
            tidy();
        });
    }

    // ---- Answers of the store

    @Override
    public void granted(Claim claim, Reply.Granted reply, long sentAt, DeferredActions deferred) {
        Request outOfOrder = claims().servedOutOfOrder(claim);
        Grant grant = claims().granted(claim, reply, sentAt, queue(), deferred);
        if (grant != null && grant.claim.isHeld() && outOfOrder != null && outOfOrder.isQueued()) {
            handOver(grant, outOfOrder, deferred);
        }
        proceed(deferred);
    }

    @Override
    public void queued(Claim claim, DeferredActions deferred) {
        claims().queued(claim, deferred);
        Request first = queue().head();
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
                queue().end(request -> true, detail, why, deferred);
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
                queue().end(only, detail, why, deferred);
            }
            return;
        }
        Predicate<Request> condition = switch (denial) {
            case TAKEN -> request -> claims().suits(claim, pending, request);
            case TOO_HEAVY -> request -> request.weight() >= claim.weight();
            case REFUSED, UNREACHABLE -> request -> true;
        };
        queue().end(condition, detail, why, deferred);
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
            queue().renewNewcomers();
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
            queue().end(condition, null, why, deferred);
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
            grants.addFixedLeases(fixedLeases);
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
        if (mayHaveLostHolds()) {
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
            grants.refreshNotes(deferred);
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
        return decide(deferred -> queue().size());
    }
}
