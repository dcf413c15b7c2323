package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How this process stands at the store for one resource: the claim that is on its way to a grant, and the grants that
 * are passed on. All methods are called under the lock of the resource; what leaves it goes to the deferred actions.
 */
final class ResourceClaims extends ResourceGrants {

    /** The claim that is on its way to a grant; at most one, so that a process has one place in the store's queue. */
    private @Nullable LocalClaim claim;

    /** The claims that go past it. */
    private BargingClaims barging = BargingClaims.NONE;

    private long answers;

    ResourceClaims(LocalResource resource) {
        super(resource);
    }

    boolean isNone() {
        return claim == null && barging.isEmpty() && isWithoutGrants();
    }

    /** Whether a claim may be made for a request: one is enough, and where one grant serves all, it is enough. */
    boolean mayAsk(Request request) {
        return claim == null && !isBarging(request) && (resource.policy.hasSeveralGrants() || !hasOneBefore(request));
    }

    /** Whether the store has not said anything yet to what was asked of it last. */
    boolean isAsking() {
        return claim != null && claim.state == Claim.State.SENT;
    }

    /** Whether the claim that is on its way waits in the store's queue. */
    boolean isWaiting() {
        return claim != null && claim.state == Claim.State.QUEUED;
    }

    /** Whether there is a grant that will serve a request too, or that has to go first. */
    private boolean hasOneBefore(Request request) {
        boolean wantsItsOwn = request.isShare() && request.hasOwnLease();
        for (LocalGrant held = firstGrant(); held != null; held = held.nextGrant) {
            if (resource.policy.precludesAnother(held.weight, held.isBound() || wantsItsOwn)) {
                return true;
            }
        }
        return false;
    }

    /** How often the store has told the state of a claim of this process; -1 if the newest it told still holds. */
    long answers() {
        return isUnanswered() ? answers : -1;
    }

    /** Whether the store has said nothing to what was asked of it since it had told so many states. */
    boolean isUnansweredSince(long answersBefore) {
        return answers == answersBefore && isUnanswered();
    }

    private boolean isUnanswered() {
        if (!isWithoutGrants() && (claim == null || !resource.policy.hasSeveralGrants())) {
            return false;
        }
        return claim == null || !claim.wasAnswered;
    }

    /** The claim or grant of this identity, if it is here. */
    @Override
    @Nullable
    LocalGrant find(ClaimRef ref) {
        if (claim != null && claim.ref.equals(ref)) {
            return claim;
        }
        LocalClaim past = barging.find(ref);
        return past == null ? super.find(ref) : past;
    }

    @Override
    void addRefs(Set<ClaimRef> refs) {
        if (claim != null) {
            refs.add(claim.ref);
        }
        barging.addRefs(refs);
        super.addRefs(refs);
    }

    // ---- Asking

    /** Makes a claim for a request, and asks the store for it. */
    void ask(Session session, Request first, RequestQueue queue, DeferredActions out) {
        LocalClaim fresh = newClaim(session, first, first.hasOwnLease() || first.isTry, queue);
        claim = fresh;
        int tokens = tokensToAsk(queue);
        CallerMode caller = first.waiter == Thread.currentThread() ? CallerMode.BLOCKING : CallerMode.ASYNC;
        out.add(() -> resource.partition.driver.acquire(fresh, tokens, caller));
    }

    /** Whether a claim is on its way for this request that goes past the one that waits. */
    boolean isBarging(Request request) {
        return request.barging != null;
    }

    /**
     * Asks the store for a request that is behind the claim that waits, if there may be room for it: for one that
     * waits, only if it asks for less, so that those who ask for as much pass what there is from one to the next in
     * memory.
     */
    void barge(Request request, RequestQueue queue, DeferredActions out) {
        LocalClaim waiting = claim;
        if (waiting == null
                || !waiting.session.isAlive()
                || (!request.isTry && request.weight() >= waiting.weight)
                || isBarging(request)) {
            return;
        }
        LocalClaim fresh = newClaim(waiting.session, request, true, queue);
        fresh.isBarging = true;
        barging = barging.orNew();
        barging.add(request, fresh);
        queue.noteBarging(request);
        CallerMode caller = request.waiter == Thread.currentThread() ? CallerMode.BLOCKING : CallerMode.ASYNC;
        out.add(() -> resource.partition.driver.acquire(fresh, 1, caller));
    }

    /** Whether the store has said, since a request for a pass came, that it has to wait. */
    boolean mustWait(Request request) {
        return claim != null && claim.state == Claim.State.QUEUED && claim.covers(request.number);
    }

    /**
     * Asks whether the pass claim still waits at the store, if requests have come since that was known: then it is
     * theirs too, and else they need another. Without that they would have to ask after the latch has opened, which may
     * be set anew by then.
     */
    void cover(RequestQueue queue, DeferredActions out) {
        LocalClaim waiting = claim;
        Request newest = queue.tail();
        if (waiting == null
                || newest == null
                || waiting.state != Claim.State.QUEUED
                || waiting.isCovering
                || waiting.covers(newest.number)) {
            return;
        }
        waiting.isCovering = true;
        CallerMode caller = newest.waiter == Thread.currentThread() ? CallerMode.BLOCKING : CallerMode.ASYNC;
        out.add(() -> resource.partition.driver.cover(waiting, caller));
    }

    /** Releases the grant for a place at the tail of the store's queue, in one step; who only tries takes no place. */
    void giveWay(LocalGrant held, Request first, RequestQueue queue, DeferredActions out) {
        if (claim != null || first.isTry || !held.session.isAlive()) {
            giveBack(held, out);
            return;
        }
        LocalClaim fresh = newClaim(held.session, first, first.hasOwnLease(), queue);
        int tokens = tokensToAsk(queue);
        fresh.replace(held);
        claim = fresh;
        out.add(() -> resource.partition.driver.giveWay(fresh, tokens));
    }

    private LocalClaim newClaim(Session session, Request first, boolean isOwn, RequestQueue queue) {
        LocalClaim fresh = new LocalClaim(
                resource,
                resource.partition.nextRef(resource.name, session),
                session,
                first.terms.lease(),
                isOwn ? first : null,
                first.weight(),
                queue.newest());
        fresh.settledAt = resource.partition.context.clock().now();
        return fresh;
    }

    // ---- What the store says

    /**
     * The store has granted a claim, or confirmed a grant.
     *
     * @return whether it is a fresh grant, to be {@linkplain #take taken}
     */
    boolean granted(LocalClaim of, Reply.Granted reply, DeferredActions out) {
        answers++;
        if (of.state == Claim.State.HELD || of.state == Claim.State.YIELDING) {
            of.confirm(reply, resource.now() + resource.partition.context.cohortBudgetNanos());
            return false;
        }
        endReplaced(of);
        if (of.isDead || !resource.partition.validity.mayBecomeHold(of)) {
            kill(of, out);
            return false;
        }
        return true;
    }

    /** Takes a fresh grant. */
    void take(LocalClaim of, Reply.Granted reply, RequestQueue queue) {
        noLongerAsksFor(of);
        of.state = Claim.State.HELD;
        of.open();
        of.adopt(reply.tokens());
        addGrant(of);
        if (queue.hasSeveral() || reply.awaited()) {
            of.begin(new CohortState(resource.now() + resource.partition.context.cohortBudgetNanos(), reply.awaited()));
        }
    }

    /** A claim stands in the store's queue. */
    void queued(LocalClaim of, DeferredActions out) {
        answers++;
        endReplaced(of);
        if (of.isDead) {
            kill(of, out);
        } else if (of.state == Claim.State.SENT) {
            of.state = Claim.State.QUEUED;
        }
    }

    /**
     * A claim was not made, and will not be.
     *
     * @return whether the resource waited for it
     */
    boolean refused(LocalClaim of, DeferredActions out) {
        answers++;
        boolean wasOurs = claim == of || barging.contains(of);
        LocalGrant replaced = of.takeReplaced();
        forget(of);
        if (replaced != null && replaced.state == Claim.State.YIELDING) {
            // All or nothing: the grant stayed.
            giveBack(replaced, out);
        }
        return wasOurs;
    }

    /** The store does not know a claim that it had queued. */
    void vanished(LocalClaim of) {
        if (of.state == Claim.State.QUEUED) {
            // Queued again under a new id, at the tail.
            forget(of);
        }
    }

    private void endReplaced(LocalClaim of) {
        LocalGrant replaced = of.takeReplaced();
        if (replaced != null) {
            forget(replaced);
        }
    }

    // ---- Ending

    /** Ends a grant at the store. */
    void giveBack(LocalGrant held, DeferredActions out) {
        giveBack(held, CallerMode.ASYNC, ReleaseRetrier.NOBODY, out);
    }

    /** Ends a grant at the store, for somebody who is told its answer. */
    void giveBack(LocalGrant held, CallerMode caller, ReleaseRetrier.Done done, DeferredActions out) {
        forget(held);
        settle(held, new Command.Release(held.ref), caller, done, out);
    }

    /** Nothing is believed of it here any more. */
    void forget(LocalGrant over) {
        over.state = Claim.State.OVER;
        over.isDead = true;
        if (drop(over)) {
            // Who waited until now waited for this process's own holds.
            answers++;
        }
        noLongerAsksFor(over);
    }

    private void noLongerAsksFor(LocalGrant of) {
        if (claim == of) {
            claim = null;
        }
        Request barged = barging.remove(of);
        if (barged != null) {
            resource.bargesNoLonger(barged);
            if (barging.isEmpty()) {
                barging = BargingClaims.NONE;
            }
        }
    }

    /**
     * Withdraws the claim if no request is left that it could serve, and those that go past it for requests that are
     * over.
     *
     * @return whether the claim was withdrawn
     */
    boolean dropUnwanted(RequestQueue queue, DeferredActions out) {
        barging.takeUnwanted().forEach(past -> kill(past, out));
        LocalClaim waiting = claim;
        // One that is to replace a grant waits for the answer first: until then both are at stake.
        if (waiting == null || waiting.isReplacing() || isWanted(queue)) {
            return false;
        }
        kill(waiting, out);
        return true;
    }

    /** Whether the claim that is on its way, if there is one, serves a request that waits. */
    boolean isWanted(RequestQueue queue) {
        LocalClaim waiting = claim;
        Request first = queue.head();
        if (waiting == null || first == null) {
            return waiting == null;
        }
        // Where weights differ, one that is not for the head would keep it from asking for what it needs; and one that
        // waits to be alone may wait longer than a reader has to.
        return (resource.spec.capacity() > 1 && !waiting.isBound())
                ? waiting.weight == first.weight() && waiting.suits(first)
                : queue.hasOneFor(waiting);
    }

    /**
     * Nobody wants this claim: it is withdrawn at once, or as soon as its outcome is known. From here on it never
     * becomes a hold.
     */
    private void kill(LocalClaim unwanted, DeferredActions out) {
        boolean isKnown = unwanted.state != Claim.State.SENT || unwanted.wasAnswered;
        unwanted.isDead = true;
        noLongerAsksFor(unwanted);
        if (isKnown) {
            unwanted.state = Claim.State.OVER;
        }
        if (!isKnown) {
            // An audit may find it at the store before its own answer is there; it must not take it for a ghost then,
            // for a withdrawal before the epoch is raised could come before the claim.
            resource.partition.retrier.announce(new Command.Withdraw(unwanted.ref, Command.Sending.REPEAT));
        } else if (resource.partition.context.rules().returnsUnwantedGrants()) {
            settle(unwanted, new Command.Withdraw(unwanted.ref, Command.Sending.FIRST), out);
        }
    }

    /** The outcome of a dead claim's sending can't change any more: it is withdrawn now. */
    void withdraw(LocalClaim dead, DeferredActions out) {
        LocalGrant replaced = dead.takeReplaced();
        forget(dead);
        if (dead.wasNeverMade) {
            resource.partition.retrier.retract(dead.ref);
        } else {
            settle(dead, new Command.Withdraw(dead.ref, Command.Sending.REPEAT), out);
        }
        if (replaced != null && replaced.state == Claim.State.YIELDING) {
            giveBack(replaced, out);
        }
    }

    /**
     * Looks after the claims that are on their way and hang on a session: one about which nothing has come or gone for
     * too long is asked for again, and one that waits is polled.
     */
    void lookAfterClaims(Session session, long quietBefore, DeferredActions out) {
        if (claim != null) {
            lookAfter(claim, session, quietBefore, out);
        }
        barging.all().forEach(past -> lookAfter(past, session, quietBefore, out));
    }

    private void lookAfter(LocalClaim present, Session session, long quietBefore, DeferredActions out) {
        if (present.session != session) {
            return;
        }
        if (present.state == Claim.State.SENT && present.settledAt - quietBefore < 0) {
            out.add(() -> resource.partition.driver.recover(present));
        } else if (present.state == Claim.State.QUEUED) {
            out.add(() -> resource.partition.poller.keep(present));
        }
    }

    /** Retired first: a late duplicate of the claim that came between would stand there for the rest of the ttl. */
    private void withdrawOnceRetired(LocalClaim over, DeferredActions out) {
        Command.Withdraw command = new Command.Withdraw(over.ref, Command.Sending.REPEAT);
        over.isSettling = true;
        resource.partition.retrier.announce(command);
        FixedLeaseState outliving = over.outliving();
        out.add(() -> over.session.afterRetirement(() -> resource.partition.retrier.settle(
                command, over.session, outliving, CallerMode.ASYNC, ReleaseRetrier.NOBODY)));
    }

    /** All claims of a session that are on their way are over; its grants are lost by the resource. */
    void sessionOver(Session session, DeferredActions out) {
        LocalClaim waiting = claim;
        if (waiting != null && waiting.session == session) {
            // It is lost with the others.
            var unused = waiting.takeReplaced();
            forget(waiting);
            withdrawOnceRetired(waiting, out);
        }
        for (LocalClaim past : barging.all()) {
            if (past.session == session) {
                forget(past);
                withdrawOnceRetired(past, out);
            }
        }
    }
}
