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
 * The local tier of one resource. Local requests queue here, first in, first out. While there are any, the gate keeps
 * one claim in the store's queue; when that is granted, the grant is passed from request to request in memory, each
 * with the next token of its block, until nobody wants it (it is released), its budget is spent and others wait at
 * the store (it is yielded for a new place at the tail), or it is lost.
 *
 * Within a process the order is neither purely first in, first out, which costs two context switches for each
 * hand-over, nor free for all, which starves. The owner that lets go has its turn a little longer (TURN_NANOS from
 * the moment it was handed the lock): if it asks again it is served at once. Meanwhile the head of the queue is awake
 * and looks at short intervals; it takes the lock when its owner stays away between two looks, and is handed it by
 * the first release after the turn. So a hot lock runs at memory speed, and each of n waiting threads has its turn after n turns.
 *
 * Lock order: the lock of a gate is taken before that of the keeper's, of no other gate, and never held while
 * anything outside the engine is called: commands, wake-ups and listeners go into an outbox that is sent when the
 * lock is free.
 */

/** The queue and the grants of one resource in this process. Thread-safe. */
final class Gate {

    /**
     * How long an owner that asks again keeps its turn: a few context switches, so that 500 waiters all have theirs
     * within about a tenth of a second.
     */
    static final long TURN_NANOS = 200_000;

    /**
     * How often the last owner of a turn lets other threads run before it gives a grant back that was passed on a
     * moment ago. Being woken, it may have taken the processor of the one that handed it the lock and is about to ask
     * again: to let that run costs far less than a release and a new claim.
     */
    private static final int YIELDS = 3;

    final Engine engine;
    final ResourceName name;
    final ResourceSpec spec;
    final ReentrantLock lock = new ReentrantLock();

    // All guarded by lock; current is also read without.
    private final RequestQueue queue = new RequestQueue();
    private LostHolds lost = LostHolds.NONE;
    private final Standing standing;

    /** The local hold that is live under the grant. */
    volatile @Nullable LocalHold current;

    private @Nullable Thread turnOwner;
    private long turnEnds;

    private boolean isRemoved;

    Gate(Engine engine, ResourceName name, ResourceSpec spec) {
        this.engine = engine;
        this.name = name;
        this.spec = spec;
        this.standing = new Standing(this);
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
        } else if (request.isTry && !(queue.isEmpty() && standing.isNone())) {
            end(request, null, null, out);
        } else {
            request.answersBefore = standing.answers();
            queue.append(request);
            pursue(out);
        }
        removeIfIdle();
    }

    /** Whether a request need not queue behind those that wait here. */
    private boolean mayPass(Request request) {
        return queue.isEmpty()
                || (request.isTry && spec.order() == Order.BARGING)
                || (!request.isTry
                        && request.owner != null
                        && request.owner == turnOwner
                        && engine.clock.now() - turnEnds < 0);
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
            react(out);
        } finally {
            lock.unlock();
        }
        out.send();
        return true;
    }

    /** Whether the store has said nothing yet to what this process asks of it here. */
    boolean isUnanswered(Request request) {
        lock.lock();
        try {
            return standing.isUnansweredSince(request.answersBefore);
        } finally {
            lock.unlock();
        }
    }

    /** The head of the queue looks whether the turn before it is over. */
    void look(Request request) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            Claim held = standing.grant();
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
        Claim held = standing.grant();
        return held != null
                && current == null
                && held.state == Claim.State.HELD
                && request.fits(held)
                && engine.mayHandOn(held);
    }

    /** Makes a hold for a request that is not queued any more; false when there is no token for it yet. */
    private boolean serve(Request request, Outbox out) {
        Claim held = standing.grant();
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
            standing.foresee(held, queue, out);
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
            for (int i = 0; i < YIELDS && caller == Caller.WAITS && missesOthers(held); i++) {
                letOthersRun();
            }
            if (current == hold && !engine.rules.mayPassOn(engine.clock.now(), held.deadline())) {
                lose(held, held.own == null ? Loss.Cause.EXPIRED : Loss.Cause.LEASE_ENDED, out);
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

    /** Whether nobody waits any more for a grant that is being passed on. */
    private boolean missesOthers(Claim held) {
        return queue.isEmpty() && held.wasPassedOn() && engine.clock.now() - turnEnds < 0;
    }

    @SuppressWarnings("ThreadPriorityCheck") // a hint: nothing but speed depends on it
    private void letOthersRun() {
        lock.unlock();
        try {
            Thread.yield();
        } finally {
            lock.lock();
        }
    }

    private void letGo(LocalHold hold, Claim held, CompletableFuture<ReleaseOutcome> stage, Caller caller, Outbox out) {
        Request first = queue.head();
        // In doubt only the store can tell whether the hold was good to its end.
        boolean inDoubt = !engine.mayHandOn(held);
        if (first == null || engine.isClosing() || held.bound != null || inDoubt) {
            standing.giveBack(held, caller, new HoldEnd(hold, inDoubt, engine.clock.now(), stage), out);
            pursue(out);
            return;
        }
        out.add(() -> stage.complete(ReleaseOutcome.RELEASED));
        if (first.owner != null
                && first.owner != hold.owner
                && turnOwner == hold.owner
                && engine.clock.now() - turnEnds < 0) {
            if (!first.isWatching && canServe(first) && !standing.mustYield(held, first)) {
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

    /** Ends the hold of a grant, if there is one, as lost; the resource may be another's by now. */
    void lose(Claim held, Loss.Cause cause, Outbox out) {
        LocalHold hold = current;
        standing.forget(held);
        if (hold != null && hold.grant == held) {
            current = null;
            lost = lost.with(hold);
            Loss loss = new Loss(name.value(), engine.product(), hold.rawToken(), cause);
            hold.lose(loss, out);
            out.add(() -> engine.noteLoss(loss));
            // At the store the grant stays until its owner lets go: a slow owner keeps its margin.
        } else {
            standing.settle(held, new Command.Release(held.ref), Caller.GOES_ON, null, out);
        }
    }

    /** The owner of a lost hold has closed it: what may be left at the store goes too. */
    private void forgetLost(LocalHold hold, Outbox out) {
        lost = lost.without(hold);
        standing.settle(hold.grant, new Command.Release(hold.grant.ref), Caller.GOES_ON, null, out);
    }

    // ---- The store's answers, by way of the claim driver, which holds the lock

    /** A claim was granted. */
    void granted(Claim of, Reply.Granted reply, Outbox out) {
        standing.granted(of, reply, queue, out);
        if (current == null) {
            turnOwner = null;
        }
        react(out);
    }

    /** A claim stands in the store's queue. */
    void queued(Claim of, Outbox out) {
        standing.queued(of, out);
        react(out);
    }

    /** A claim was not made, because others have or want the lock: the requests it was for are told so. */
    void taken(Claim of, Outbox out) {
        if (standing.refused(of, out)) {
            failThoseServedBy(of, null, out);
        }
        react(out);
    }

    /** A claim was not made for a reason that holds for every claim of this gate: all that wait here fail. */
    void refused(Claim of, Supplier<RuntimeException> why, Outbox out) {
        if (standing.refused(of, out)) {
            failAll(why, out);
        }
        react(out);
    }

    /**
     * The store does not answer what was asked: the requests fail, and the claim is withdrawn once it can have no
     * effect any more.
     */
    void unanswerable(Claim of, Supplier<RuntimeException> why, Outbox out) {
        failThoseServedBy(of, why, out);
        react(out);
    }

    /** As {@link #unanswerable}, for a reason that holds for every claim of this gate. */
    void denied(Claim of, Supplier<RuntimeException> why, Outbox out) {
        if (!of.isDead) {
            failAll(why, out);
        }
        react(out);
    }

    /** The store does not know a claim. */
    void vanished(Claim of, Outbox out) {
        standing.vanished(of, out);
        react(out);
    }

    /** A fresh token block; or none, where the store has no more. */
    void advanced(Claim of, Reply.@Nullable Advanced reply, Outbox out) {
        standing.advanced(of, reply);
        react(out);
    }

    /** A dead claim can have no effect any more. */
    void withdraw(Claim dead, Outbox out) {
        standing.withdraw(dead, out);
        react(out);
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

    // One by one they would each ask, and with a store that answers at once each in the answer to the one before.
    private void failAll(Supplier<RuntimeException> why, Outbox out) {
        for (Request request = queue.head(); request != null; request = queue.head()) {
            queue.remove(request);
            end(request, null, why, out);
        }
    }

    /** All claims and grants of a session are over. */
    void sessionOver(Session session, Loss.Cause cause) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            standing.sessionOver(session, cause, out);
            react(out);
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
            if (held.state == Claim.State.HELD && standing.grant() == held) {
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
            failAll(why, out);
            react(out);
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
            react(out);
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** The session was renewed: what waited for the end of a doubt goes on, and a lease of its own is asked after. */
    void goOnAfterDoubt() {
        LocalHold live = current;
        if (live == null) {
            goOn();
        } else if (live.grant.own != null) {
            engine.doubt(live.grant);
        }
    }

    /** The claim or grant of this identity, if it is here. */
    @Nullable
    Claim claimOf(ClaimRef ref) {
        lock.lock();
        try {
            return standing.find(ref);
        } finally {
            lock.unlock();
        }
    }

    // ---- What to do next

    /** Does what the present state asks for, after anything has changed. */
    private void react(Outbox out) {
        pursue(out);
        if (standing.dropUnwanted(queue, out)) {
            pursue(out);
        }
        removeIfIdle();
    }

    /** Sees to it that the head of the queue is on its way to a hold. */
    private void pursue(Outbox out) {
        if (engine.isClosing()) {
            return;
        }
        Claim held = standing.grant();
        if (held != null && held.state == Claim.State.HELD && engine.rules.mayPartWith(current != null)) {
            passOn(held, out);
        }
        Request first = queue.head();
        if (first == null || !standing.isNone()) {
            return;
        }
        Session session = engine.session();
        if (session == null) {
            out.add(() -> engine.needSession(Caller.GOES_ON));
        } else {
            standing.ask(session, first, queue, out);
        }
    }

    /** Hands a grant under which no hold is live to the first request that it fits; or yields it, or gives it back. */
    private void passOn(Claim held, Outbox out) {
        Request first = queue.head();
        if (first == null) {
            standing.giveBack(held, Caller.GOES_ON, null, out);
        } else if (!engine.rules.mayPassOn(engine.clock.now(), held.deadline())) {
            out.add(() -> engine.lookAt(held));
        } else if (!engine.mayHandOn(held)) {
            out.add(() -> engine.doubt(held));
        } else if (standing.mustYield(held, first)) {
            standing.giveWay(held, first, queue, out);
        } else {
            queue.remove(first);
            if (!serve(first, out)) {
                queue.prepend(first);
                standing.advance(held, queue, out);
            }
        }
    }

    // ---- Looks from outside

    /** Compares what the store has with what this gate believes: see {@link Auditor}. */
    void audit(Session session, Set<ClaimRef> present, Set<ClaimRef> known, long startedAt) {
        Outbox out = new Outbox();
        lock.lock();
        try {
            standing.addRefs(known);
            lost.addRefs(known);
            Claim held = standing.grant();
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
            standing.addRefs(known);
            lost.addRefs(known);
        } finally {
            lock.unlock();
        }
        return known.contains(ref);
    }

    /** Looks for owners that are threads and have died: their hold is lost, or nobody is left to close a lost one. */
    void checkOwners() {
        LocalHold hold = current;
        if (hold != null && hold.owner != null && !hold.owner.isAlive()) {
            end(hold.grant, Loss.Cause.OWNER_DIED);
        }
        if (!lost.isEmpty()) {
            forgetThoseOfTheDead();
        }
    }

    private void forgetThoseOfTheDead() {
        Outbox out = new Outbox();
        lock.lock();
        try {
            for (LocalHold orphan = lost.ofTheDead(); orphan != null; orphan = lost.ofTheDead()) {
                forgetLost(orphan, out);
            }
            pursue(out);
            removeIfIdle();
        } finally {
            lock.unlock();
        }
        out.send();
    }

    /** The client is closed: all that waits fails, what is held is lost. */
    void shut(Supplier<RuntimeException> why) {
        failWaiting(why);
        Claim held = standing.grant();
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
        if (queue.isEmpty() && standing.isNone() && lost.isEmpty() && !isRemoved) {
            isRemoved = true;
            engine.remove(this);
        }
    }

    private static Loss lossOf(LocalHold hold) {
        Loss loss = hold.loss();
        if (loss == null) {
            throw new IllegalStateException("a hold in the list of the lost has no loss");
        }
        return loss;
    }
}
