package dev.holdfast.engine;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * The local tier of one resource. Local requests queue here, first in, first out. While there are any, the gate keeps one claim in the store's queue; when that is granted, the
 * grant is passed from request to request in memory, each with the next token of its block, until nobody wants it (it is released), its budget is spent and others wait at the
 * store (it is yielded for a new place at the tail), or it is lost.
 *
 * Within a process the order is neither purely first in, first out, which costs two context switches for each hand-over, nor free for all, which starves. The owner that lets go
 * has its turn a little longer (TURN_NANOS from the moment it was handed the lock): if it asks again it is served at once. Meanwhile the head of the queue is awake and looks at
 * short intervals; it takes the lock when its owner stays away between two looks, and is handed it by the first release after the turn. So a hot lock runs at memory speed, and
 * each of n waiting threads has its turn after n turns.
 *
 * Lock order: the lock of a gate is taken before that of the keeper's, of no other gate, and never held while anything outside the engine is called: commands, wake-ups and
 * listeners go into an outbox that is sent when the lock is free.
 */

/** The queue and the grants of one resource in this process. Thread-safe. */
final class Gate {

    /** How long an owner that asks again keeps its turn: a few context switches, so that 500 waiters all have theirs within about a tenth of a second. */
    static final long TURN_NANOS = 200_000;

    final Engine engine;
    final ResourceName name;
    final ResourceSpec spec;
    final ReentrantLock lock = new ReentrantLock();

    // All guarded by lock; current is also read without.
    private final RequestQueue queue = new RequestQueue();
    private final LostHolds lost = new LostHolds();

    /** The claim that is on its way to a grant. */
    private @Nullable Claim claim;

    /** The grant that is passed on here. */
    private @Nullable Claim grant;

    /** The local hold that is live under the grant. */
    volatile @Nullable LocalHold current;

    private @Nullable Thread turnOwner;
    private long turnEnds;

    /** How many tokens the last cohort used: what the next may ask for. */
    private int lastCohort;

    private boolean isRemoved;

    Gate(Engine engine, ResourceName name, ResourceSpec spec) {
        this.engine = engine;
        this.name = name;
        this.spec = spec;
    }

    // ---- Requests come and go

    /**
     * Serves a request or queues it.
     *
     * @return false if this gate was removed meanwhile: take the next
     */
    boolean enter(Request request) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            if (isRemoved) {
                return false;
            }
            admit(request, out);
        } finally {
            lock.unlock();
        }
        out.send();
        return true;
    }

    private void admit(Request request, Outbox out) {
        LocalHold lostHold = lost.of(request.owner);
        if (lostHold != null) {
            end(request, null, () -> new LockLostException(lossOf(lostHold)), out);
        } else if (engine.isClosing()) {
            end(request, null, engine::closedException, out);
        } else if (mayPass(request) && canServe(request) && serve(request, out)) {
            return;
        } else if (request.isTry && (!queue.isEmpty() || grant != null || claim != null)) {
            end(request, null, null, out);
        } else {
            queue.append(request);
            pursue(out);
        }
        removeIfIdle();
    }

    /** Whether a request need not queue behind those that wait here. */
    private boolean mayPass(Request request) {
        return queue.isEmpty()
                || (request.isTry && spec.order() == Order.BARGING)
                || (request.owner != null && request.owner == turnOwner && engine.clock.now() - turnEnds < 0);
    }

    /**
     * Takes back a request that has not ended: its wait is over, it was interrupted or cancelled.
     *
     * @return whether it was taken back; if not, it has ended
     */
    boolean cancel(Request request) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            if (request.isDone()) {
                return false;
            }
            request.end(null, null);
            queue.remove(request);
            dropUnwantedClaim(out);
            pursue(out);
            removeIfIdle();
        } finally {
            lock.unlock();
        }
        out.send();
        return true;
    }

    /** Whether the store has said nothing yet to what this process asks of it here. */
    boolean isUnanswered() {
        lock.lock();
        try {
            return grant == null && (claim == null || !claim.wasAnswered);
        } finally {
            lock.unlock();
        }
    }

    /** The head of the queue looks whether the turn before it is over. */
    void look(Request request) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            Claim held = grant;
            if (request.isDone() || request != queue.head() || held == null) {
                request.isWatching = false;
                return;
            }
            boolean isTurnOver = engine.clock.now() - turnEnds >= 0;
            if (current == null) {
                if (isTurnOver || request.seenCursor == held.tokenCursor) {
                    request.isWatching = false;
                    pursue(out);
                }
                request.seenCursor = held.tokenCursor;
            } else if (isTurnOver) {
                // The next release hands over: no need to stay awake.
                request.isWatching = false;
            } else {
                request.seenCursor = held.tokenCursor;
            }
        } finally {
            lock.unlock();
        }
        out.send();
    }

    // ---- Holds are made and end

    private boolean canServe(Request request) {
        Claim held = grant;
        return held != null
                && current == null
                && held.state == Claim.State.HELD
                && request.fits(held)
                && engine.mayHandOn(held);
    }

    /** Makes a hold for a request that is not queued any more; false when there is no token for it yet. */
    private boolean serve(Request request, Outbox out) {
        Claim held = grant;
        long token = held == null ? 0 : held.nextToken();
        if (held == null || token == 0) {
            return false;
        }
        LocalHold hold = new LocalHold(this, held, request.owner, token, request.isExtendable);
        if (request.owner != turnOwner || request.owner == null) {
            turnOwner = request.owner;
            turnEnds = engine.clock.now() + Math.min(TURN_NANOS, engine.cohortBudgetNanos);
        }
        held.wasServed = true;
        current = hold;
        end(request, hold, null, out);
        if (!queue.isEmpty()) {
            foresee(held, out);
        }
        return true;
    }

    /** Ends the outermost acquisition of a hold. Called by its owner, once. */
    CompletableFuture<ReleaseOutcome> release(LocalHold hold, Caller caller) {
        Outbox out = new Outbox();
        CompletableFuture<ReleaseOutcome> stage;
        lock.lock();
        try {
            Claim held = hold.grant;
            if (current == hold && !engine.rules.isGood(engine.clock.now(), held.deadline())) {
                lose(held, held.hasOwnLease() ? Loss.Cause.LEASE_ENDED : Loss.Cause.EXPIRED, out);
                out.add(() -> engine.lookAt(held));
            }
            stage = hold.releaseStage();
            if (hold.loss() != null) {
                forgetLost(hold, out);
                out.add(() -> stage.complete(ReleaseOutcome.LOST));
                pursue(out);
            } else {
                current = null;
                letGo(hold, held, stage, caller, out);
            }
            removeIfIdle();
        } finally {
            lock.unlock();
        }
        out.send();
        return stage;
    }

    private void letGo(LocalHold hold, Claim held, CompletableFuture<ReleaseOutcome> stage, Caller caller, Outbox out) {
        Request first = queue.head();
        if (first == null || engine.isClosing() || held.bound != null) {
            giveBack(held, caller, new HoldEnd(hold, stage), out);
            pursue(out);
            return;
        }
        out.add(() -> stage.complete(ReleaseOutcome.RELEASED));
        if (first.owner != null
                && first.owner != hold.owner
                && turnOwner == hold.owner
                && engine.clock.now() - turnEnds < 0) {
            if (!first.isWatching && canServe(first) && !mustYield(held, first)) {
                first.isWatching = true;
                first.seenCursor = -1;
                out.add(first::wake);
            }
            if (first.isWatching) {
                return;
            }
        }
        pursue(out);
    }

    /** Ends a grant at the store. */
    private void giveBack(Claim held, Caller caller, @Nullable HoldEnd end, Outbox out) {
        forget(held);
        settle(held, new Command.Release(held.ref), caller, end, out);
    }

    private void forget(Claim held) {
        held.state = Claim.State.OVER;
        held.isDead = true;
        if (held.cohort != null) {
            lastCohort = held.cohort.used;
        }
        if (grant == held) {
            grant = null;
        }
        if (claim == held) {
            claim = null;
        }
    }

    private void settle(Claim over, Command.OnClaim command, Caller caller, @Nullable HoldEnd end, Outbox out) {
        if (over.isSettling) {
            return;
        }
        over.isSettling = true;
        engine.settler.announce(command);
        out.add(() -> engine.settler.settle(command, over.session, caller, end == null ? (reply, isFirst) -> {} : end));
    }

    /** Ends the hold of a grant, if there is one, as lost; the resource may be another's by now. */
    private void lose(Claim held, Loss.Cause cause, Outbox out) {
        LocalHold hold = current;
        forget(held);
        if (hold != null && hold.grant == held) {
            current = null;
            lost.add(hold);
            Loss loss = new Loss(name.value(), engine.product(), hold.rawToken(), cause);
            hold.lose(loss, out);
            out.add(() -> engine.noteLoss(loss));
            // At the store the grant stays until its owner lets go: a slow owner keeps its margin.
        } else {
            settle(held, new Command.Release(held.ref), Caller.GOES_ON, null, out);
        }
    }

    /** The owner of a lost hold has closed it: what may be left at the store goes too. */
    private void forgetLost(LocalHold hold, Outbox out) {
        lost.remove(hold);
        settle(hold.grant, new Command.Release(hold.grant.ref), Caller.GOES_ON, null, out);
    }

    // ---- The store's answers, by way of the claim driver

    /** A claim was granted. */
    void granted(Claim of, Reply.Granted reply, long sentAt, Outbox out) {
        if (of.state == Claim.State.HELD || of.state == Claim.State.YIELDING) {
            of.adopt(reply.tokens());
            if (of.cohort != null) {
                of.cohort.answer(reply.awaited(), engine.clock.now() + engine.cohortBudgetNanos);
            }
            pursue(out);
            removeIfIdle();
            return;
        }
        Claim replaced = of.replaces;
        of.replaces = null;
        if (replaced != null) {
            forget(replaced);
        }
        if (of.isDead || !engine.mayBecomeHold(of)) {
            kill(of, out);
            pursue(out);
            removeIfIdle();
            return;
        }
        if (grant != null && grant != of) {
            // The store admits one: the other grant is gone there, whatever we believed.
            lose(grant, Loss.Cause.REMOVED, out);
        }
        if (claim == of) {
            claim = null;
        }
        of.state = Claim.State.HELD;
        of.adopt(reply.tokens());
        grant = of;
        turnOwner = null;
        if (of.hasOwnLease()) {
            out.add(() -> engine.watchLease(of));
        }
        if (queue.hasSeveral() || reply.awaited()) {
            of.cohort = new Cohort(engine.clock.now() + engine.cohortBudgetNanos, reply.awaited());
        }
        pursue(out);
        dropUnwantedClaim(out);
        removeIfIdle();
    }

    /** A claim stands in the store's queue. */
    void queued(Claim of, Outbox out) {
        Claim replaced = of.replaces;
        of.replaces = null;
        if (replaced != null) {
            forget(replaced);
        }
        if (of.isDead) {
            kill(of, out);
        } else if (of.state == Claim.State.SENT) {
            of.state = Claim.State.QUEUED;
            dropUnwantedClaim(out);
        }
        removeIfIdle();
    }

    /** A claim was not made, and will not be. The requests it was for fail, or were told that it is taken. */
    void refused(Claim of, @Nullable Supplier<RuntimeException> why, Outbox out) {
        Claim replaced = of.replaces;
        of.replaces = null;
        boolean wasOurs = claim == of;
        forget(of);
        if (replaced != null && replaced.state == Claim.State.YIELDING) {
            // All or nothing: the grant stayed.
            giveBack(replaced, Caller.GOES_ON, null, out);
        }
        if (wasOurs) {
            failThoseServedBy(of, why, out);
        }
        pursue(out);
        removeIfIdle();
    }

    /** The store will not answer what was asked: the requests fail, and the claim is withdrawn once it can have no effect any more. */
    void unanswerable(Claim of, Supplier<RuntimeException> why, Outbox out) {
        failThoseServedBy(of, why, out);
        dropUnwantedClaim(out);
        removeIfIdle();
    }

    private void failThoseServedBy(Claim of, @Nullable Supplier<RuntimeException> why, Outbox out) {
        Request request = queue.head();
        while (request != null) {
            Request following = request.next;
            if (request.fits(of)) {
                queue.remove(request);
                end(request, null, why, out);
            }
            request = following;
        }
    }

    /** The store does not know a claim that it had queued, or a grant that we had. */
    void vanished(Claim of, Outbox out) {
        if (of.state == Claim.State.HELD) {
            lose(of, Loss.Cause.REMOVED, out);
        } else if (of.state == Claim.State.QUEUED) {
            // Queued again under a new id, at the tail.
            forget(of);
        }
        pursue(out);
        removeIfIdle();
    }

    /** A fresh token block. */
    void advanced(Claim of, Reply.@Nullable Advanced reply, Outbox out) {
        Cohort cohort = of.cohort;
        if (cohort == null) {
            return;
        }
        cohort.advancing = false;
        if (reply != null && of.state == Claim.State.HELD) {
            of.adopt(reply.tokens());
            cohort.awaited = reply.awaited();
        }
        pursue(out);
        removeIfIdle();
    }

    /** All claims and grants of a session are over. */
    void sessionOver(Session session, Loss.Cause cause) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            if (grant != null && grant.session == session) {
                lose(grant, cause, out);
            }
            Claim waiting = claim;
            if (waiting != null && waiting.session == session) {
                Claim replaced = waiting.replaces;
                waiting.replaces = null;
                forget(waiting);
                settle(waiting, new Command.Withdraw(waiting.ref, Command.Sending.REPEAT), Caller.GOES_ON, null, out);
                if (replaced != null) {
                    lose(replaced, cause, out);
                }
            }
            pursue(out);
            removeIfIdle();
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** Ends a grant for a cause that the client found: its lease, its owner, the client. */
    void end(Claim held, Loss.Cause cause) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            if (held.state == Claim.State.HELD && grant == held) {
                lose(held, cause, out);
                LocalHold orphan = cause == Loss.Cause.OWNER_DIED ? lost.under(held) : null;
                if (orphan != null) {
                    forgetLost(orphan, out);
                }
                pursue(out);
                removeIfIdle();
            }
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** Fails all that wait here. */
    void failWaiting(Supplier<RuntimeException> why) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            for (Request request = queue.head(); request != null; request = queue.head()) {
                queue.remove(request);
                end(request, null, why, out);
            }
            dropUnwantedClaim(out);
            pursue(out);
            removeIfIdle();
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** The session was opened or renewed, or a doubt is over: what waited for that goes on. */
    void goOn() {
        Outbox out = new Outbox();
        lock.lock();
        try {
            pursue(out);
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** A request was acknowledged that may have ended a doubt, under which nothing was handed on. */
    void goOnAfterDoubt() {
        if (current == null && grant != null) {
            goOn();
        }
    }

    /** The claim or grant of this identity, if it is here. */
    @Nullable
    Claim claimOf(ClaimRef ref) {
        lock.lock();
        try {
            if (claim != null && claim.ref.equals(ref)) {
                return claim;
            }
            return grant != null && grant.ref.equals(ref) ? grant : null;
        } finally {
            lock.unlock();
        }
    }

    // ---- What to do next

    /** Does what the present state asks for, so that the head of the queue is on its way to a hold. */
    private void pursue(Outbox out) {
        if (engine.isClosing()) {
            return;
        }
        Claim held = grant;
        if (held != null) {
            if (current == null && held.state == Claim.State.HELD) {
                passOn(held, out);
            }
            return;
        }
        Request first = queue.head();
        if (first == null || claim != null) {
            return;
        }
        Session session = engine.session();
        if (session == null) {
            Caller caller = callerOf(first);
            out.add(() -> engine.needSession(caller));
            return;
        }
        Claim fresh = newClaim(session, first);
        claim = fresh;
        int tokens = tokensToAsk();
        Caller caller = callerOf(first);
        out.add(() -> engine.driver.acquire(fresh, tokens, caller));
    }

    /** Hands a grant under which no hold is live to the first request that it fits; or yields it, or gives it back. */
    private void passOn(Claim held, Outbox out) {
        Request first = queue.head();
        if (first == null) {
            if (engine.rules.returnsUnwantedGrants()) {
                giveBack(held, Caller.GOES_ON, null, out);
            }
        } else if (!engine.rules.isGood(engine.clock.now(), held.deadline())) {
            out.add(() -> engine.lookAt(held));
        } else if (!engine.mayHandOn(held)) {
            out.add(() -> engine.doubt(held));
        } else if (mustYield(held, first)) {
            giveWay(held, first, out);
        } else {
            queue.remove(first);
            if (!serve(first, out)) {
                queue.prepend(first);
                advance(held, out);
            }
        }
    }

    private boolean mustYield(Claim held, Request first) {
        if (!first.fits(held)) {
            return true;
        }
        if (engine.cohortBudgetNanos == 0) {
            return held.wasServed;
        }
        Cohort cohort = held.cohort;
        return cohort != null && cohort.awaited && engine.clock.now() - cohort.ends >= 0;
    }

    private void giveWay(Claim held, Request first, Outbox out) {
        Session session = held.session;
        if (claim != null || !session.isAlive() || !engine.rules.mayYield(current != null)) {
            giveBack(held, Caller.GOES_ON, null, out);
            pursue(out);
            return;
        }
        Claim fresh = newClaim(session, first);
        fresh.replaces = held;
        held.state = Claim.State.YIELDING;
        claim = fresh;
        int tokens = tokensToAsk();
        out.add(() -> engine.driver.giveWay(fresh, tokens));
    }

    private Claim newClaim(Session session, Request first) {
        boolean isOwn = first.hasOwnLease() || first.isTry;
        return new Claim(this, engine.nextRef(name, session), session, first.lease, isOwn ? first : null);
    }

    /** Looks ahead while a grant is passed on: asks for tokens in good time, and whether others wait once the budget is spent. */
    private void foresee(Claim held, Outbox out) {
        long now = engine.clock.now();
        Cohort cohort = held.cohort;
        if (cohort == null) {
            cohort = new Cohort(now + engine.cohortBudgetNanos, false);
            held.cohort = cohort;
        }
        if (held.tokensLeft() * 2 <= held.tokenEnd - held.tokenCursor + cohort.used && cohort.spare == null) {
            advance(held, out);
        }
        if (now - cohort.ends >= 0 && !cohort.awaited && !cohort.asking) {
            cohort.asking = true;
            out.add(() -> engine.driver.askForWaiters(held));
        }
    }

    private void advance(Claim held, Outbox out) {
        Cohort cohort = held.cohort;
        if (cohort == null) {
            cohort = new Cohort(engine.clock.now() + engine.cohortBudgetNanos, false);
            held.cohort = cohort;
        }
        if (!cohort.advancing) {
            cohort.advancing = true;
            long end = held.blockEnd();
            int want = tokensToAsk();
            out.add(() -> engine.driver.advance(held, end, want));
        }
    }

    /** One while nobody waits; else at most twice what was used of late. */
    private int tokensToAsk() {
        Claim held = grant;
        int used = held != null && held.cohort != null ? held.cohort.used : lastCohort;
        return queue.isEmpty() || (!queue.hasSeveral() && used == 0) ? 1 : engine.blockFor(used);
    }

    /** Withdraws the claim if no request is left that it could serve. */
    private void dropUnwantedClaim(Outbox out) {
        Claim waiting = claim;
        // One that is to replace a grant waits for the answer first: until then both are at stake.
        if (waiting != null && waiting.replaces == null && !queue.hasOneFor(waiting)) {
            kill(waiting, out);
        }
    }

    /** Nobody wants this claim: it is withdrawn at once, or as soon as its outcome is known. From here on it never becomes a hold. */
    private void kill(Claim unwanted, Outbox out) {
        boolean isKnown = unwanted.state != Claim.State.SENT || unwanted.wasAnswered;
        unwanted.isDead = true;
        if (claim == unwanted) {
            claim = null;
        }
        if (isKnown) {
            unwanted.state = Claim.State.OVER;
            settle(unwanted, new Command.Withdraw(unwanted.ref, Command.Sending.FIRST), Caller.GOES_ON, null, out);
        }
    }

    /** A dead claim's outcome can't change any more: it is withdrawn now. */
    void withdraw(Claim dead, Command.Sending outcome, Outbox out) {
        Claim replaced = dead.replaces;
        dead.replaces = null;
        forget(dead);
        settle(dead, new Command.Withdraw(dead.ref, outcome), Caller.GOES_ON, null, out);
        if (replaced != null && replaced.state == Claim.State.YIELDING) {
            giveBack(replaced, Caller.GOES_ON, null, out);
        }
        pursue(out);
        removeIfIdle();
    }

    // ---- Looks from outside

    /** Compares what the store has with what this gate believes: see {@link Auditor}. */
    void audit(Session session, Set<ClaimRef> present, Set<ClaimRef> known, long startedAt) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            addKnown(known);
            Claim held = grant;
            if (held != null
                    && held.session == session
                    && held.state == Claim.State.HELD
                    && held.underWay == 0
                    && held.settledAt - startedAt < 0
                    && !present.contains(held.ref)) {
                lose(held, Loss.Cause.REMOVED, out);
                pursue(out);
                removeIfIdle();
            }
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** Whether a claim is one of this gate's. */
    boolean knows(ClaimRef ref) {
        Set<ClaimRef> known = new HashSet<>();
        lock.lock();
        try {
            addKnown(known);
        } finally {
            lock.unlock();
        }
        return known.contains(ref);
    }

    private void addKnown(Set<ClaimRef> known) {
        if (grant != null) {
            known.add(grant.ref);
        }
        if (claim != null) {
            known.add(claim.ref);
        }
        lost.addRefs(known);
    }

    /** The owner of the live hold, if it is a thread that has died. */
    void checkOwner() {
        LocalHold hold = current;
        if (hold != null && hold.owner != null && !hold.owner.isAlive()) {
            end(hold.grant, Loss.Cause.OWNER_DIED);
        }
    }

    /** The client is closed: all that waits fails, what is held is lost. */
    void shut(Supplier<RuntimeException> why) {
        failWaiting(why);
        Claim held = grant;
        if (held != null) {
            end(held, Loss.Cause.CLIENT_CLOSED);
        }
    }

    /** The hold that a thread has here, live or lost; null if it has none. */
    @Nullable
    LocalHold holdOf(Thread thread) {
        LocalHold live = current;
        if (live != null && live.owner == thread) {
            return live;
        }
        lock.lock();
        try {
            return lost.of(thread);
        } finally {
            lock.unlock();
        }
    }

    // ---- Small parts

    private void end(
            Request request, @Nullable LocalHold hold, @Nullable Supplier<RuntimeException> failure, Outbox out) {
        request.end(hold, failure);
        if (request.future != null) {
            out.add(() -> engine.complete(request));
        } else if (request.owner != Thread.currentThread()) {
            out.add(request::wake);
        }
    }

    private void removeIfIdle() {
        if (queue.isEmpty() && claim == null && grant == null && lost.isEmpty() && !isRemoved) {
            isRemoved = true;
            engine.remove(this);
        }
    }

    private static Caller callerOf(Request request) {
        return request.owner == Thread.currentThread() ? Caller.WAITS : Caller.GOES_ON;
    }

    private static Loss lossOf(LocalHold hold) {
        Loss loss = hold.loss();
        if (loss == null) {
            throw new IllegalStateException("a hold in the list of the lost has no loss");
        }
        return loss;
    }
}
