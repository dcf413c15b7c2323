package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.ClaimListener;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.PassCoverage;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What this process asked of the store for one resource: the claim that waits in the store's queue, the claims that
 * pass it, and lost holds whose grants may still be there. Turns answers into {@link Grants}. All methods are called
 * under the lock of the resource; what leaves it goes to the deferred actions.
 *
 * <p>It has more than 500 lines because the life of a claim can only be read as a whole: each state that it may be in
 * when an answer, a loss or the end of its session arrives is handled here.
 */
final class ResourceClaims {

    /**
     * A claim without a grant.
     *
     * @param only the only request that it serves; null if it serves the first that it suits
     * @param isBarging whether it passes the main claim: it is tried once, and takes no place in the store's queue
     * @param replaced the grant that it replaces by a yield, until that is answered
     */
    record Pending(
            @Nullable Request only,
            boolean isBarging,
            @Nullable Grant replaced) implements Claim.Attachment {

        @Override
        public @Nullable ClaimRef replaces() {
            return replaced == null ? null : replaced.ref();
        }
    }

    private final ClaimListener listener;

    /** They also know the resource: a field less in each held lock. */
    private final Grants grants;

    /** The claim with a place in the store's queue, or on its way there; at most one for each process. */
    private @Nullable Claim main;

    /** The claims that pass it, oldest first. */
    private Set<Claim> barging = Set.of();

    /** Null if there are none, as in almost all resources. */
    private @Nullable LostHolds lostHolds;

    /** How often the store has reported the state of a claim. */
    private long answers;

    ResourceClaims(ClaimListener listener, Grants grants) {
        this.listener = listener;
        this.grants = grants;
    }

    private Resource resource() {
        return grants.resource();
    }

    private Partition partition() {
        return grants.resource().partition;
    }

    // ---- What there is

    /**
     * Whether there is nothing but grants, as far as this process knows. Unless a request waits, which may depend on
     * the number of answers, this object is not needed then.
     */
    boolean isNone() {
        return main == null && barging.isEmpty() && lostHolds == null;
    }

    /** Whether a claim may be made for a request: one is enough, and so is one grant that serves all requests. */
    boolean mayAsk(Request request) {
        return main == null
                && request.bargingClaim() == null
                && (resource().policy.hasSeveralGrants() || !hasGrantBefore(request));
    }

    /** Whether a grant will serve a request too, or has to end first. */
    private boolean hasGrantBefore(Request request) {
        boolean wantsItsOwn = request.isShare() && request.hasOwnLease();
        for (Grant grant = grants.first(); grant != null; grant = grant.next) {
            if (resource().policy.precludesAnother(grant.claim.weight(), grant.isBound() || wantsItsOwn)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the main claim has no answer yet. */
    boolean isAsking() {
        return main != null && main.isSent();
    }

    /** Whether the main claim waits in the store's queue. */
    boolean isWaiting() {
        return main != null && main.isQueued();
    }

    /** The main claim, if it waits in the store's queue; null if it does not. */
    @Nullable
    ClaimRef queuedRef() {
        return main != null && main.isQueued() ? main.ref() : null;
    }

    /** How often the store has reported the state of a claim; -1 if the newest report still applies. */
    long answers() {
        return isUnanswered() ? answers : -1;
    }

    /** Whether the store has reported nothing since it had given this many answers. */
    boolean isUnansweredSince(long answersBefore) {
        return answers == answersBefore && isUnanswered();
    }

    private boolean isUnanswered() {
        if (!grants.isEmpty() && (main == null || !resource().policy.hasSeveralGrants())) {
            return false;
        }
        return main == null || !main.wasAnswered();
    }

    /** The claim or grant of this identity; null if it is not here. */
    @Nullable
    Claim find(ClaimRef ref) {
        if (main != null && main.is(ref)) {
            return main;
        }
        for (Claim claim : barging) {
            if (claim.is(ref)) {
                return claim;
            }
        }
        Grant grant = grants.find(ref);
        return grant == null ? null : grant.claim;
    }

    /** Whether a claim may be one of this resource at the store. */
    boolean knows(ClaimRef ref) {
        return find(ref) != null || (lostHolds != null && lostHolds.has(ref));
    }

    private static @Nullable Pending pendingOf(Claim claim) {
        return claim.attachment() instanceof Pending pending ? pending : null;
    }

    private static @Nullable Grant grantOf(Claim claim) {
        return claim.attachment() instanceof Grant grant ? grant : null;
    }

    /** Whether a grant of a pending claim would serve a request. */
    boolean suits(Claim claim, Pending pending, Request request) {
        if (pending.only() != null || request.hasOwnLease()) {
            return pending.only() == request;
        }
        return resource().policy.suits(claim, request.weight(), request.number());
    }

    // ---- Asking

    /** Makes a claim for a request, and sends it. */
    void ask(Session session, Request first, RequestQueue queue, DeferredActions deferred) {
        Request only = first.hasOwnLease() || first.isTry() ? first : null;
        Claim fresh = newClaim(session, first, new Pending(only, false, null), queue);
        main = fresh;
        send(fresh, grants.tokensToAsk(queue), first.callerMode(), deferred);
    }

    private Claim newClaim(Session session, Request request, Pending pending, RequestQueue queue) {
        boolean isTry =
                pending.isBarging() || (pending.only() != null && pending.only().isTry());
        Claim fresh = new Claim(
                listener,
                partition().nextClaim(),
                session,
                new Claim.Terms(
                        request.terms.lease(),
                        request.weight(),
                        isTry ? Waiting.TRY : Waiting.QUEUE,
                        coverage(queue),
                        pending.replaced() != null && pending.replaced().claim.isAnnotated()),
                resource().now());
        fresh.attach(pending);
        return fresh;
    }

    private @Nullable PassCoverage coverage(RequestQueue queue) {
        return resource().policy.grantsPasses() || resource().handOver() == KindPolicy.HandOver.UNAWAITED
                ? new PassCoverage(queue.newestNumber())
                : null;
    }

    private void send(Claim claim, int tokens, CallerMode caller, DeferredActions deferred) {
        deferred.add(() -> partition().driver.acquire(claim, tokens, caller));
    }

    /** Each request that was queued since the last call asks the store past the main claim, once. */
    void bargeNewcomers(RequestQueue queue, DeferredActions deferred) {
        queue.takeNewcomers(request -> barge(request, queue, deferred));
    }

    /**
     * Asks the store for a request behind the main claim, if there may be room for it. One that waits does so only if
     * it asks for less: requests for as much hand over what there is in memory.
     */
    private void barge(Request request, RequestQueue queue, DeferredActions deferred) {
        Claim waiting = main;
        if (waiting == null
                || !waiting.session.isAlive()
                || (!request.isTry() && request.weight() >= waiting.weight())
                || request.bargingClaim() != null) {
            return;
        }
        Claim fresh = newClaim(waiting.session, request, new Pending(request, true, null), queue);
        if (barging.isEmpty()) {
            barging = new LinkedHashSet<>();
        }
        barging.add(fresh);
        RequestQueue.setBargingClaim(request, fresh);
        send(fresh, 1, request.callerMode(), deferred);
    }

    /** All requests have left the queue, whose numbers start again: no later one belongs to a batch. */
    void endBatches() {
        if (main != null) {
            main.endBatch();
        }
        Grant grant = grants.first();
        if (grant != null) {
            grant.claim.endBatch();
        }
    }

    /** Whether the store has said, since a request for a pass was queued, that it has to wait. */
    boolean mustWait(Request request) {
        return isWaiting() && main != null && main.covers(request.number());
    }

    /**
     * Asks whether the pass claim still waits at the store, if requests were queued since that was known: then it
     * serves them too, and otherwise they need another. If they asked later, the latch might have been set again by
     * then.
     */
    void cover(RequestQueue queue, DeferredActions deferred) {
        Claim waiting = main;
        Request newest = queue.tail();
        if (waiting == null || newest == null) {
            return;
        }
        PassCoverage coverage = waiting.coverage();
        if (coverage != null && waiting.isQueued() && !waiting.covers(newest.number()) && coverage.beginPoll()) {
            CallerMode caller = newest.callerMode();
            long newestNumber = queue.newestNumber();
            deferred.add(() -> partition().driver.cover(waiting, coverage, newestNumber, caller));
        }
    }

    /** Exchanges a grant for a place at the tail of the store's queue, in one step. A try only releases it. */
    void yieldGrant(Grant grant, Request first, RequestQueue queue, DeferredActions deferred) {
        if (main != null || first.isTry() || !grant.claim.session.isAlive()) {
            giveBack(grant, deferred);
            return;
        }
        Request only = first.hasOwnLease() ? first : null;
        Claim fresh = newClaim(grant.claim.session, first, new Pending(only, false, grant), queue);
        int tokens = grants.tokensToAsk(queue);
        grant.claim.beginYield();
        main = fresh;
        send(fresh, tokens, CallerMode.ASYNC, deferred);
    }

    // ---- Answers

    /** The request that a grant of this claim serves wherever it stands in the queue; null if it serves the first. */
    @Nullable
    Request servedOutOfOrder(Claim claim) {
        Pending pending = pendingOf(claim);
        if (pending != null) {
            return pending.isBarging() ? pending.only() : null;
        }
        Grant grant = grantOf(claim);
        return grant != null && grant.isIdle() ? grant.only() : null;
    }

    /**
     * The store has granted a claim, or confirmed its grant.
     *
     * @param sentAt when the request was sent to which it replied
     * @return the grant; null if the claim can't become one
     */
    @Nullable
    Grant granted(Claim claim, Reply.Granted reply, long sentAt, RequestQueue queue, DeferredActions deferred) {
        answers++;
        Grant present = grantOf(claim);
        if (present != null) {
            present.confirm(reply, sentAt);
            return present;
        }
        Pending pending = pendingOf(claim);
        if (pending != null) {
            endReplaced(pending);
        }
        if (pending == null || !partition().validity.mayBecomeHold(claim)) {
            kill(claim, deferred);
            return null;
        }
        loseExcludedBy(claim, deferred);
        return take(claim, pending, reply, queue);
    }

    /** The store has admitted a claim: grants that leave no room for it have ended there. */
    private void loseExcludedBy(Claim admitted, DeferredActions deferred) {
        if (!grants.isEmpty() && !resource().policy.hasSeveralGrants()) {
            for (Grant grant : grants.all()) {
                if ((long) grant.claim.weight() + admitted.weight()
                        > resource().spec.capacity()) {
                    lose(grant, Loss.Cause.REMOVED, deferred);
                }
            }
        }
    }

    private Grant take(Claim claim, Pending pending, Reply.Granted reply, RequestQueue queue) {
        noLongerPending(claim);
        // Without its own lease it serves whichever request is first from now on.
        Grant grant = new Grant(claim, resource(), claim.fixedLease == null ? null : pending.only());
        claim.attach(grant);
        // Whoever had the lock before may have queued again in the step that granted this, which then does not say so.
        boolean isContended = resource().handOver() == KindPolicy.HandOver.UNAWAITED && claim.isQueued();
        boolean isAwaited = reply.awaited() || isContended;
        claim.hold();
        grant.adopt(reply.tokens());
        grants.add(grant);
        if (queue.hasSeveral() || isAwaited) {
            grant.begin(resource().newCohort(isAwaited));
        }
        return grant;
    }

    /** A claim waits in the store's queue. */
    void queued(Claim claim, DeferredActions deferred) {
        answers++;
        Pending pending = pendingOf(claim);
        if (pending != null && pending.replaced() != null) {
            endReplaced(pending);
            claim.attach(new Pending(pending.only(), pending.isBarging(), null));
        }
        if (claim.isDead()) {
            kill(claim, deferred);
        } else {
            claim.queue();
        }
    }

    /**
     * A claim was not made, and will not be.
     *
     * @return what was known of it; null if the resource did not wait for it
     */
    @Nullable
    Pending refused(Claim claim, DeferredActions deferred) {
        answers++;
        Pending pending = pendingOf(claim);
        forget(claim);
        if (pending != null) {
            // A yield is all or nothing: the store has kept the grant.
            releaseReplaced(pending, deferred);
        }
        return pending;
    }

    private void releaseReplaced(Pending pending, DeferredActions deferred) {
        Grant replaced = pending.replaced();
        if (replaced != null && replaced.claim.isYielding()) {
            giveBack(replaced, deferred);
        }
    }

    private void endReplaced(Pending pending) {
        if (pending.replaced() != null) {
            forget(pending.replaced().claim);
        }
    }

    /** The store does not know a claim: a grant is lost, and a waiting claim is made again at the tail. */
    void vanished(Claim claim, DeferredActions deferred) {
        Grant grant = grantOf(claim);
        if (grant != null && claim.isHeld()) {
            lose(grant, Loss.Cause.REMOVED, deferred);
        } else if (claim.isQueued()) {
            forget(claim);
        }
    }

    /** The store has answered a request for more tokens; null if it has no more. */
    void advanced(Claim claim, Reply.@Nullable Advanced reply) {
        Grant grant = grantOf(claim);
        if (grant != null) {
            grant.replenish(reply);
        }
    }

    void pollFailed(Claim claim) {
        Grant grant = grantOf(claim);
        if (grant != null) {
            grant.pollFailed();
        }
    }

    // ---- Claims that no request wants

    /**
     * Withdraws the main claim if it can serve no request in the queue, and barging claims whose requests have ended.
     *
     * @return whether the main claim was withdrawn
     */
    boolean dropUnwanted(RequestQueue queue, DeferredActions deferred) {
        for (Request request : queue.takeLeft()) {
            Claim claim = request.bargingClaim();
            if (claim != null && request.isDone()) {
                kill(claim, deferred);
            }
        }
        Claim waiting = main;
        if (waiting == null || isReplacing(waiting) || isWanted(queue)) {
            return false;
        }
        kill(waiting, deferred);
        return true;
    }

    /** Whether a claim replaces a grant: it stays until its answer, because both are at stake. */
    private static boolean isReplacing(Claim claim) {
        Pending pending = pendingOf(claim);
        return pending != null && pending.replaced() != null;
    }

    /** Whether the main claim, if there is one, serves a request in the queue. */
    boolean isWanted(RequestQueue queue) {
        Claim waiting = main;
        Request first = queue.head();
        if (waiting == null || first == null) {
            return waiting == null;
        }
        Pending pending = pendingOf(waiting);
        if (pending == null) {
            throw new IllegalStateException("the claim " + waiting.ref() + " is not waiting for a reply");
        }
        Request only = pending.only();
        if (only != null) {
            return only.isQueued();
        }
        // Where weights differ, a claim that does not suit the head would keep it from asking for what it needs. One
        // for the whole capacity may also wait longer than a reader has to.
        return resource().spec.capacity() > 1
                ? waiting.weight() == first.weight() && suits(waiting, pending, first)
                : queue.has(request -> suits(waiting, pending, request));
    }

    /**
     * No request wants this claim: it never becomes a hold, and is withdrawn now, or as soon as its outcome is known.
     */
    private void kill(Claim unwanted, DeferredActions deferred) {
        boolean isKnown = unwanted.isOutcomeKnown();
        unwanted.kill();
        noLongerPending(unwanted);
        unwanted.attach(null);
        if (!isKnown) {
            // An audit may find it at the store before its own answer arrives, and must not take it for an orphan: a
            // withdrawal before the epoch is raised could arrive before the claim.
            partition().retrier.announce(new Command.Withdraw(unwanted.ref(), Command.Sending.REPEAT));
        } else if (resource().context().rules().returnsUnwantedGrants()) {
            settle(unwanted, new Command.Withdraw(unwanted.ref(), Command.Sending.FIRST), deferred);
        }
    }

    /** The outcome of a dead claim can no longer change: it is withdrawn now. */
    void withdraw(Claim dead, DeferredActions deferred) {
        forget(dead);
        if (dead.wasNeverMade()) {
            partition().retrier.retract(dead.ref());
        } else {
            settle(dead, new Command.Withdraw(dead.ref(), Command.Sending.REPEAT), deferred);
        }
    }

    private void noLongerPending(Claim claim) {
        if (main == claim) {
            main = null;
        }
        if (!barging.isEmpty() && barging.remove(claim)) {
            Pending pending = pendingOf(claim);
            if (pending != null && pending.only() != null) {
                RequestQueue.setBargingClaim(pending.only(), null);
            }
            if (barging.isEmpty()) {
                barging = Set.of();
            }
        }
    }

    /** This process expects nothing of a claim or grant any more. */
    private void forget(Claim claim) {
        claim.end();
        if (claim.fixedLease != null) {
            claim.fixedLease.stopChecking();
        }
        Grant grant = grantOf(claim);
        if (grant != null && grants.end(grant)) {
            // Requests that waited until now waited for the holds of this process.
            answers++;
        }
        noLongerPending(claim);
        claim.attach(null);
    }

    // ---- Ending grants

    /** Releases a grant. */
    void giveBack(Grant grant, DeferredActions deferred) {
        giveBack(grant, CallerMode.ASYNC, ReleaseRetrier.NOBODY, deferred);
    }

    /** Releases a grant, and reports the store's answer. */
    void giveBack(Grant grant, CallerMode caller, ReleaseRetrier.Done done, DeferredActions deferred) {
        forget(grant.claim);
        settle(grant.claim, new Command.Release(grant.ref(), grant.claim.isAnnotated()), caller, done, deferred);
    }

    /** A grant is left at the store, and ends there with its own lease. */
    void leave(Grant grant) {
        forget(grant.claim);
    }

    /** Releases part of a grant. Its weight changes before the store knows, so that no more than that is used. */
    void shrink(Grant grant, int weight, DeferredActions deferred) {
        Claim claim = grant.claim;
        if (claim.weight() > weight) {
            claim.shrinkTo(weight);
            FixedLeaseState outliving = claim.outlivingLease();
            deferred.add(() -> partition()
                    .retrier
                    .settle(
                            new Command.ShrinkTo(claim.ref(), weight),
                            claim.session,
                            outliving,
                            CallerMode.ASYNC,
                            ReleaseRetrier.NOBODY));
        }
    }

    private void settle(Claim claim, Command.OnClaim command, DeferredActions deferred) {
        settle(claim, command, CallerMode.ASYNC, ReleaseRetrier.NOBODY, deferred);
    }

    /** Settles the end of a claim at the store, once. */
    private void settle(
            Claim claim,
            Command.OnClaim command,
            CallerMode caller,
            ReleaseRetrier.Done done,
            DeferredActions deferred) {
        if (claim.beginSettling()) {
            partition().retrier.announce(command);
            FixedLeaseState outliving = claim.outlivingLease();
            deferred.add(() -> partition().retrier.settle(command, claim.session, outliving, caller, done));
        }
    }

    // ---- Losses

    /** The client has found that a grant has ended. Returns whether it was still here. */
    boolean expire(Claim claim, Loss.Cause cause, DeferredActions deferred) {
        Grant grant = grantOf(claim);
        boolean isLoss = grant != null && claim.isHeld() && grants.has(grant);
        if (isLoss && grant != null) {
            lose(grant, cause, deferred);
        }
        return isLoss;
    }

    /** Ends a grant and the holds under it as lost. */
    void lose(Grant grant, Loss.Cause cause, DeferredActions deferred) {
        List<LocalHold> holds = grant.holds();
        forget(grant.claim);
        if (holds.isEmpty()) {
            settle(grant.claim, new Command.Release(grant.ref(), grant.claim.isAnnotated()), deferred);
            return;
        }
        // The grant stays at the store until its owners have closed their holds: a slow owner keeps its margin.
        if (lostHolds == null) {
            lostHolds = new LostHolds();
        }
        holds.forEach(lostHolds::add);
        holds.forEach(hold -> lose(hold, cause, deferred));
    }

    private void lose(LocalHold hold, Loss.Cause cause, DeferredActions deferred) {
        grants.removeHold(hold.grant(), hold, deferred);
        Loss loss = new Loss(resource().name.value(), resource().context().product(), hold.rawToken(), cause);
        hold.lose(loss, deferred);
        deferred.add(() -> resource().context().noteLoss(loss));
    }

    /** The lost hold of a thread that it has not closed. */
    @Nullable
    LocalHold lostHoldOf(@Nullable Thread owner) {
        return lostHolds == null ? null : lostHolds.of(owner);
    }

    /**
     * The owner of a lost hold has closed it; with the last one of its grant, what may be left at the store is
     * released.
     *
     * @param leaving leaves the grant at the store instead; null to release it
     */
    void closeLost(LocalHold hold, @Nullable Runnable leaving, DeferredActions deferred) {
        LostHolds others = lostHolds;
        if (others != null) {
            others.remove(hold);
            lostHolds = others.isEmpty() ? null : others;
        }
        if (leaving != null) {
            deferred.add(leaving);
        } else if (others == null || !others.hasUnder(hold.grant())) {
            settle(
                    hold.grant().claim,
                    new Command.Release(hold.grant().ref(), hold.claim().isAnnotated()),
                    deferred);
        }
    }

    /** The owner of a live hold has died: it is lost, unless its lease is detached, which outlives its owner. */
    void ownerDied(LocalHold orphan, DeferredActions deferred) {
        Grant grant = orphan.grant();
        if (grant.claim.isHeld() && !grant.claim.isDetached()) {
            lose(orphan, Loss.Cause.OWNER_DIED, deferred);
            if (grant.isIdle()) {
                giveBack(grant, deferred);
            }
        }
    }

    boolean hasLostHolds() {
        return lostHolds != null;
    }

    /** Closes lost holds whose owners have died, and drops those without an owner that have ended at the store. */
    void closeAbandoned(DeferredActions deferred) {
        LostHolds present = lostHolds;
        if (present != null) {
            present.ofTheDead().forEach(orphan -> closeLost(orphan, null, deferred));
            present.removeEnded(resource().now());
            lostHolds = present.isEmpty() ? null : present;
        }
    }

    // ---- Sessions and audits

    /** All claims and grants of a session have ended. */
    void sessionOver(Session session, Loss.Cause cause, DeferredActions deferred) {
        if (main != null && main.session == session) {
            withdrawAfterSession(main, deferred);
        }
        for (Claim claim : List.copyOf(barging)) {
            if (claim.session == session) {
                withdrawAfterSession(claim, deferred);
            }
        }
        for (Grant grant : grants.all()) {
            if (grant.claim.session == session && !grant.claim.isDetached()) {
                lose(grant, cause, deferred);
            }
        }
    }

    /** The retrier sends this once the session is retired: before that, a late claim could arrive after it. */
    private void withdrawAfterSession(Claim claim, DeferredActions deferred) {
        forget(claim);
        settle(claim, new Command.Withdraw(claim.ref(), Command.Sending.REPEAT), deferred);
    }

    /**
     * Compares what the store has with what this process expects, and removes from it what is of this resource.
     *
     * @return whether a grant was lost
     */
    boolean audit(SessionUser.Audit audit, DeferredActions deferred) {
        if (main != null) {
            checkProgress(main, audit, deferred);
        }
        barging.forEach(claim -> checkProgress(claim, audit, deferred));
        if (lostHolds != null) {
            lostHolds.eachRef(audit.present()::remove);
        }
        boolean isLoss = false;
        for (Grant grant : grants.all()) {
            Claim claim = grant.claim;
            boolean isPresent = audit.present().remove(claim.ref());
            if (claim.session == audit.session()
                    && claim.isHeld()
                    && !claim.hasCommandInFlight()
                    && claim.isUntouchedSince(audit.startedAt())
                    && !isPresent) {
                lose(grant, Loss.Cause.REMOVED, deferred);
                isLoss = true;
            }
        }
        return isLoss;
    }

    /** Sends a claim again about which nothing was sent or answered for too long, and polls one that waits. */
    private void checkProgress(Claim claim, SessionUser.Audit audit, DeferredActions deferred) {
        var unused = audit.present().remove(claim.ref());
        if (claim.session != audit.session()) {
            return;
        }
        if (claim.isSent() && claim.isUntouchedSince(audit.quietBefore())) {
            deferred.add(() -> partition().driver.recover(claim));
        } else if (claim.isQueued()) {
            deferred.add(() -> partition().poller.keep(claim));
        }
    }
}
