package dev.holdfast.engine.local;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * The local tier of one resource. Local requests queue here, first in, first out. While there are any, the resource
 * keeps one claim in the store's queue; when that is granted, the grant is passed from request to request in memory,
 * each with the next token of its block, until nobody wants it (it is released), its budget is spent and others wait at
 * the store (it is yielded for a new place at the tail), or it is lost.
 *
 * Within a process the order is neither purely first in, first out, which costs two context switches for each
 * hand-over, nor free for all, which starves. The owner that lets go has its turn a little longer (TURN_NANOS from
 * the moment it was handed the lock): if it asks again it is served at once. Meanwhile the head of the queue is awake
 * and looks at short intervals; it takes the lock when its owner stays away between two looks, and is handed it by
 * the first release after the turn. So a hot lock runs at memory speed, and each of n waiting threads has its turn
 * after n turns. Those who share a grant have their turn together: readers go on past a writer at the head until it is
 * over.
 *
 * A mutex or read-write lock has one grant at a time, and readers of this process share it. Of a semaphore there may be
 * many, each for one request at a time; while a request waits one more is asked for, and what does not suit it goes
 * back to the store first. A pass grant of a latch serves all that queued here while its claim did at the store.
 *
 * All of this is one state machine under one lock. What can be told without the rest is elsewhere: the claim and the
 * grants in ResourceClaims, the waiting of callers in Acquirer, turns in FairnessSlice, what is kept a little longer in
 * DelayedRelease, what is looked after from time to time in ResourceMaintenance.
 *
 * Lock order: the lock of a resource is taken before that of the keeper's, of no other resource, and never held while
 * anything outside the engine is called: commands, wake-ups and listeners go into deferred actions that run when the
 * lock is free.
 */

/** The queue and the grants of one resource in this process. Thread-safe. */
public final class LocalSynchronizer extends LocalResource {

    /**
     * How long an owner that asks again keeps its turn: a few context switches, so that 500 waiters all have theirs
     * within about a tenth of a second.
     */
    static final long TURN_NANOS = 200_000;

    private static final long RELEASE_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * How often the last owner of a turn lets other threads run before it gives a grant back that was passed on a
     * moment ago. Being woken, it may have taken the processor of the one that handed it the lock and is about to ask
     * again: to let that run costs far less than a release and a new claim.
     */
    private static final int YIELDS = 3;

    /**
     * How long those who share go on past one at the head who wants to be alone: enough for what it costs to stop and
     * to wake all of them not to count.
     */
    private static final long SHARED_TURN_NANOS = 1_000_000;

    private final ConcurrentMap<ResourceName, LocalSynchronizer> registry;
    // All guarded by lock.
    public RequestQueue queue = RequestQueue.NONE;
    public LostHolds lost = LostHolds.NONE;
    final ResourceClaims claims;

    /** When the newest turn ends. */
    private long turnsEnd;

    /** What is kept a little longer than it is used; null before there was anything. */
    private @Nullable DelayedRelease lingering;

    /** Some request in the queue may be overdue. */
    private boolean hasOverdue;

    private boolean isRemoved;

    /** Makes the resource of a name, which leaves {@code registry} when nobody uses it any more. */
    public LocalSynchronizer(
            StorePart part,
            ConcurrentMap<ResourceName, LocalSynchronizer> registry,
            ResourceName name,
            ResourceSpec spec) {
        super(part, name, spec);
        this.registry = registry;
        this.claims = new ResourceClaims(this);
    }

    /** Whether a request may go past those that wait here for more. */
    private boolean isBarging() {
        return spec.order() == Order.BARGING && spec.kind() == Kind.SEMAPHORE;
    }

    private DelayedRelease lingering() {
        DelayedRelease present = lingering;
        if (present == null) {
            present = new DelayedRelease(this);
            lingering = present;
        }
        return present;
    }

    private boolean isLingering() {
        return lingering != null && lingering.isKeeping();
    }

    // ---- Requests come and go

    /**
     * Serves a request or queues it.
     *
     * @return false if this resource was removed meanwhile: take the next
     */
    public boolean enter(Request request) {
        DeferredActions out = new DeferredActions();
        lock.lock();
        try {
            if (isRemoved) {
                return false;
            }
            admit(request, out);
        } finally {
            lock.unlock();
            out.send();
        }
        return true;
    }

    private void admit(Request request, DeferredActions out) {
        LocalHold lostHold = lost.of(request.owner);
        if (lostHold != null) {
            end(request, null, () -> new LockLostException(lossOf(lostHold)), out);
        } else if (part.context.isClosing()) {
            end(request, null, part.context.failures()::closed, out);
        } else if (serveAtOnce(request, out)) {
            return;
        } else if (request.isTry && !mayTry(request, out)) {
            end(request, null, null, out);
        } else {
            request.answersBefore = claims.answers();
            if (queue.isEmpty()) {
                beginSharedTurn();
            }
            request.sessionsAskedFor = part.keeper.attempts();
            queue = queue.orNew();
            queue.append(request);
            pursue(out);
            request.isAskedFor = request == queue.head() && claims.isAsking();
        }
        tidy();
    }

    /** Serves a request that need not queue, if there is a grant for it. */
    private boolean serveAtOnce(Request request, DeferredActions out) {
        boolean isFirst = queue.isEmpty() || (request.isTry && spec.order() == Order.BARGING);
        for (LocalClaim held = claims.firstGrant();
                held != null && (held.isIdle() || isShared());
                held = held.nextGrant) {
            if (canServe(held, request) && (isFirst || (!request.isTry && hasTurn(held, request)))) {
                return serve(held, request, out);
            }
        }
        return false;
    }

    /**
     * Whether a request that does not wait may ask the store; a grant that is kept idle does not stand in its way.
     * Where several can hold, it may also stand behind those who have no answer yet: nobody knows then that they have
     * to wait.
     */
    private boolean mayTry(Request request, DeferredActions out) {
        if (spec.kind() == Kind.LATCH) {
            // It may have opened, and nobody here was told yet.
            return true;
        }
        if (!queue.isEmpty()) {
            return spec.capacity() > 1 && (claims.isAsking() || isBarging());
        }
        LocalClaim held = claims.firstGrant();
        if (isLingering() && held != null && held.isIdle() && !held.suits(request) && held.state == Claim.State.HELD) {
            claims.giveBack(held, Caller.GOES_ON, null, out);
        }
        return claims.mayAsk(request);
    }

    /** The head of the queue wants to be alone: those who share have a turn from now. */
    private void beginSharedTurn() {
        LocalClaim held = claims.firstGrant();
        if (held != null && held.turn != null && held.turn.isShared()) {
            held.turn.share(now(), turnNanos(SHARED_TURN_NANOS));
            turnsEnd = held.turn.ends();
        }
    }

    private boolean hasTurn(LocalClaim held, Request request) {
        FairnessSlice turn = held.turn;
        return turn != null && turn.includes(request) && !turn.isOver(now());
    }

    private long turnNanos(long usual) {
        return Math.min(usual, part.context.cohortBudgetNanos());
    }

    /**
     * Takes back a request that has not ended: its wait is over, it was interrupted or cancelled.
     *
     * @return whether it was taken back; if not, it has ended
     */
    public boolean cancel(Request request) {
        DeferredActions out = new DeferredActions();
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
            out.send();
        }
        return true;
    }

    /** Whether the store has said nothing yet to what this process asks of it here. */
    boolean isUnanswered(Request request) {
        lock.lock();
        try {
            return claims.isUnansweredSince(request.answersBefore);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets a request whose wait is over end with the next answer of the store, if none has come since it was queued.
     * The caller bounds the time until then.
     *
     * @return whether such an answer is outstanding; if not, nothing has changed
     */
    boolean awaitAnswer(Request request, Duration waited) {
        lock.lock();
        try {
            if (request.isDone() || !claims.isUnansweredSince(request.answersBefore)) {
                return false;
            }
            request.overdueAfter = waited;
            hasOverdue = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the requests whose wait was over before the store answered, and that the answer does not serve. */
    private void endOverdue(DeferredActions out) {
        if (hasOverdue) {
            endThose(
                    request -> request.overdueAfter != null && !claims.isUnansweredSince(request.answersBefore),
                    null,
                    out);
            hasOverdue = queue.hasOverdue();
        }
    }

    /** The head of the queue looks whether the turn before it is over. */
    public void look(Request request) {
        DeferredActions out = new DeferredActions();
        lock.lock();
        try {
            if (request.isDone() || request != queue.head() || claims.isWithoutGrants()) {
                request.isWatching = false;
                return;
            }
            long now = now();
            boolean isFree = false;
            boolean isToBeTaken = false;
            for (LocalClaim held = claims.firstGrant(); held != null && held.isIdle(); held = held.nextGrant) {
                isFree = true;
                FairnessSlice turn = held.turn();
                isToBeTaken |= turn.isOver(now) || turn.servedAtLook == held.served;
                turn.servedAtLook = held.served;
            }
            if (isToBeTaken) {
                request.isWatching = false;
                pursue(out);
            } else if (!isFree && now - turnsEnd >= 0) {
                // The next release hands over: no need to stay awake.
                request.isWatching = false;
            }
        } finally {
            lock.unlock();
            out.send();
        }
    }

    // ---- Holds are made and end

    private boolean canServe(LocalClaim held, Request request) {
        return held.state == Claim.State.HELD
                && held.suits(request)
                && held.hasRoomFor(request)
                && (held.isIdle() || !claims.isSpent(held))
                && part.validity.mayHandOn(held);
    }

    /** Makes a hold for a request that is not queued any more; false when there is no token for it yet. */
    private boolean serve(LocalClaim held, Request request, DeferredActions out) {
        boolean needsToken = ResourceClaims.needsToken(held, request);
        long token = needsToken ? held.nextToken() : held.newestToken;
        if (token == 0) {
            return false;
        }
        LocalHold hold = request.mode.holds().make(this, held, request, token);
        if (request.isShare() || held.served > 0) {
            FairnessSlice turn = held.turn();
            turn.passTo(request, part.context.clock(), turnNanos(request.isShare() ? SHARED_TURN_NANOS : TURN_NANOS));
            if (turn.ends() - turnsEnd > 0) {
                turnsEnd = turn.ends();
            }
        }
        held.take(hold);
        claims.toTheEnd(held);
        if (!hasSeveralGrants()) {
            current = held.tenant();
        }
        end(request, hold, null, out);
        if (spec.kind() == Kind.SEMAPHORE && !claims.isWanted(queue)) {
            lingering().dropLater(out);
        } else if (spec.kind() == Kind.READ_WRITE && request.isShare() && held.weight > 1) {
            lingering().leaveRoomLater(held, out);
        }
        if (spec.kind() != Kind.LATCH && (!queue.isEmpty() || !needsToken)) {
            claims.foresee(held, queue, out);
        }
        return true;
    }

    /** Ends the outermost acquisition of a hold. Called by its owner, once. */
    @Override
    public CompletableFuture<ReleaseOutcome> release(LocalHold hold, Caller caller) {
        try {
            return tryRelease(hold, caller);
        } catch (Throwable t) {
            Failsafe.log("a release, so that it is repeated,", t);
            part.context.environment().schedule(RELEASE_AGAIN_NANOS, () -> {
                var unused = release(hold, Caller.GOES_ON);
            });
            return releaseStage(hold);
        }
    }

    private CompletableFuture<ReleaseOutcome> releaseStage(LocalHold hold) {
        lock.lock();
        try {
            return hold.releaseStage();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #release}; may be repeated if it throws, for nobody else can end the hold. */
    private CompletableFuture<ReleaseOutcome> tryRelease(LocalHold hold, Caller caller) {
        DeferredActions out = new DeferredActions();
        CompletableFuture<ReleaseOutcome> stage;
        lock.lock();
        try {
            LocalClaim held = hold.grant;
            for (int i = 0; i < YIELDS && caller == Caller.WAITS && missesOthers(held); i++) {
                letOthersRun();
            }
            if (hold.loss() == null && !part.validity.mayPassOn(held)) {
                lose(held, held.own == null ? Loss.Cause.EXPIRED : Loss.Cause.LEASE_ENDED, out);
                out.add(() -> part.validity.expireIfDue(held));
            }
            stage = hold.releaseStage();
            if (hold.loss() != null) {
                forgetLost(hold, out);
                out.add(() -> stage.complete(ReleaseOutcome.LOST));
                pursue(out);
            } else {
                part(held, hold);
                letGo(hold, held, stage, caller, out);
            }
            tidy();
        } finally {
            lock.unlock();
            out.send();
        }
        return stage;
    }

    /** Whether nobody waits any more for a grant that is being passed on. */
    private boolean missesOthers(LocalClaim held) {
        return queue.isEmpty() && held.wasPassedOn() && held.isTurn(now());
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

    private void part(LocalClaim held, LocalHold hold) {
        hold.end();
        held.leave(hold);
        if (current == hold) {
            current = null;
        }
        if (held.isIdle() && claims.hasGrant(held)) {
            claims.toTheFront(held);
        }
    }

    private void letGo(
            LocalHold hold,
            LocalClaim held,
            CompletableFuture<ReleaseOutcome> stage,
            Caller caller,
            DeferredActions out) {
        Request first = queue.head();
        // In doubt only the store can tell whether the hold was good to its end.
        boolean inDoubt = !part.validity.mayHandOn(held);
        if (!held.isIdle()) {
            out.add(inDoubt ? () -> part.driver.confirm(held, stage) : () -> stage.complete(ReleaseOutcome.RELEASED));
            return;
        }
        boolean isKept = first != null || DelayedRelease.isFor(this, held);
        if (!isKept || part.context.isClosing() || held.isBound() || held.isNamed || inDoubt) {
            claims.giveBack(held, caller, new ReleaseResult(hold, inDoubt, now(), stage), out);
            pursue(out);
            return;
        }
        out.add(() -> stage.complete(ReleaseOutcome.RELEASED));
        if (first == null) {
            lingering().keep(held, out);
            return;
        }
        if (!mustWatch(held, first, out)) {
            pursue(out);
        }
    }

    /** Whether the head of the queue has to leave a grant to those whose turn it is, as long as they may come again. */
    private boolean mustWatch(LocalClaim held, Request first, DeferredActions out) {
        FairnessSlice turn = held.turn;
        if (turn == null || first.waiter == null || turn.isOwnedBy(first.waiter) || turn.isOver(now())) {
            return false;
        }
        if (!first.isWatching && canServe(held, first) && !claims.mustYield(held, first)) {
            first.isWatching = true;
            turn.servedAtLook = -1;
            out.add(first::wake);
        }
        return first.isWatching;
    }

    /** A write hold becomes a read hold: the grant goes on, and others may share it. Called by its owner. */
    @Override
    public void downgrade(LocalHold hold) {
        step(out -> {
            LocalClaim held = hold.grant;
            if (hold.loss() != null || held.state != Claim.State.HELD || held.tenant() != hold) {
                return;
            }
            hold.shrink();
            held.share(hold);
            current = null;
            held.turn().share(now(), turnNanos(SHARED_TURN_NANOS));
            if (queue.isEmpty()) {
                claims.shrink(held, 1, out);
            } else {
                lingering().leaveRoomLater(held, out);
            }
            pursue(out);
        });
    }

    /** Ends the holds under a grant, if there are any, as lost; the resource may be another's by now. */
    public void lose(LocalClaim held, Loss.Cause cause, DeferredActions out) {
        List<LocalHold> holds = held.holds();
        claims.forget(held);
        if (holds.isEmpty()) {
            claims.settle(held, new Command.Release(held.ref), Caller.GOES_ON, null, out);
            return;
        }
        // At the store the grant stays until its owners let go: a slow owner keeps its margin.
        lost = lost.with(holds);
        holds.forEach(hold -> lose(hold, cause, out));
    }

    public void lose(LocalHold hold, Loss.Cause cause, DeferredActions out) {
        hold.grant.leave(hold);
        if (current == hold) {
            current = null;
        }
        Loss loss = new Loss(name.value(), part.context.product(), hold.rawToken(), cause);
        hold.lose(loss, out);
        out.add(() -> part.context.noteLoss(loss));
    }

    /** The owner of a lost hold has closed it: with the last one what may be left at the store goes too. */
    void forgetLost(LocalHold hold, DeferredActions out) {
        lost = lost.without(hold);
        if (lost.under(hold.grant) == null) {
            claims.settle(hold.grant, new Command.Release(hold.grant.ref), Caller.GOES_ON, null, out);
        }
    }

    // ---- The store's answers, by way of the claim driver, which holds the lock

    /** A claim was granted. */
    @Override
    public void granted(LocalClaim of, Reply.Granted reply, DeferredActions out) {
        Request past = of.bargesFor();
        claims.granted(of, reply, queue, out);
        if (past != null && past.isQueued && of.state == Claim.State.HELD) {
            passOn(of, past, out);
        }
        react(out);
    }

    /** A claim stands in the store's queue. */
    @Override
    public void queued(LocalClaim of, DeferredActions out) {
        claims.queued(of, out);
        Request first = queue.head();
        if (first != null) {
            first.isAskedFor = false;
        }
        react(out);
    }

    /** A claim was not made, because others have or want the lock: the requests it was for are told so. */
    @Override
    public void taken(LocalClaim of, DeferredActions out) {
        if (claims.refused(of, out)) {
            endThose(request -> of.suits(request) && (request.isTry || !of.isBarging), null, out);
        }
        react(out);
    }

    /** A claim was not made, for it asks for more than there is: so do those who ask for as much or more. */
    @Override
    public void tooHeavy(LocalClaim of, Supplier<RuntimeException> why, DeferredActions out) {
        if (claims.refused(of, out)) {
            endThose(request -> request.weight() >= of.weight, why, out);
        }
        react(out);
    }

    /** A claim was not made for a reason that holds for every claim of this resource: all that wait here fail. */
    @Override
    public void refused(LocalClaim of, Supplier<RuntimeException> why, DeferredActions out) {
        if (claims.refused(of, out)) {
            failAll(why, out);
        }
        react(out);
    }

    /**
     * The store does not answer what was asked: the requests fail, and the claim is withdrawn once it can have no
     * effect any more.
     */
    @Override
    public void unanswerable(LocalClaim of, Supplier<RuntimeException> why, DeferredActions out) {
        endThose(of::suits, why, out);
        react(out);
    }

    /** As {@link #unanswerable}, for a reason that holds for every claim of this resource. */
    @Override
    public void denied(LocalClaim of, Supplier<RuntimeException> why, DeferredActions out) {
        if (!of.isDead) {
            failAll(why, out);
        }
        react(out);
    }

    /** The store does not know a claim. */
    @Override
    public void vanished(LocalClaim of, DeferredActions out) {
        claims.vanished(of, out);
        react(out);
    }

    /** A fresh token block; or none, where the store has no more. */
    @Override
    public void advanced(LocalClaim of, Reply.@Nullable Advanced reply, DeferredActions out) {
        claims.advanced(of, reply);
        react(out);
    }

    /** A dead claim can have no effect any more. */
    @Override
    public void withdraw(LocalClaim dead, DeferredActions out) {
        claims.withdraw(dead, out);
        react(out);
    }

    /** Ends the requests that are meant: with a failure, or because others have or want the lock. */
    private void endThose(Predicate<Request> meant, @Nullable Supplier<RuntimeException> why, DeferredActions out) {
        Request request = queue.head();
        while (request != null) {
            Request following = request.next;
            if (meant.test(request)) {
                queue.remove(request);
                end(request, null, why, out);
            }
            request = following;
        }
    }

    // One by one they would each ask, and with a store that answers at once each in the answer to the one before.
    private void failAll(Supplier<RuntimeException> why, DeferredActions out) {
        endThose(request -> true, why, out);
    }

    /** All claims and grants of a session are over. */
    void sessionOver(Session session, Loss.Cause cause) {
        step(out -> {
            claims.sessionOver(session, cause, out);
            queue.renew();
            react(out);
        });
    }

    /** Ends a grant for a cause that the client found: its lease, the client. */
    @Override
    public void end(LocalClaim held, Loss.Cause cause) {
        step(out -> {
            if (held.state == Claim.State.HELD && claims.hasGrant(held)) {
                lose(held, cause, out);
                pursue(out);
                tidy();
            }
        });
    }

    /**
     * No session can be had: what waited here before one was asked for the last time fails; for others it is asked
     * again.
     */
    void failThoseBefore(long attempt, Supplier<RuntimeException> why) {
        step(out -> {
            endThose(request -> request.sessionsAskedFor < attempt, why, out);
            react(out);
        });
    }

    /** Fails all that wait here. */
    public void failWaiting(Supplier<RuntimeException> why) {
        step(out -> {
            failAll(why, out);
            react(out);
        });
    }

    /** The session was opened or renewed, or a doubt is over: what waited for that goes on. */
    public void goOn() {
        step(this::react);
    }

    /** The claim or grant of this identity, if it is here. */
    @Nullable
    public LocalClaim claimOf(ClaimRef ref) {
        lock.lock();
        try {
            return claims.find(ref);
        } finally {
            lock.unlock();
        }
    }

    // ---- What to do next

    /** Does what the present state asks for, after anything has changed. */
    @Override
    public void react(DeferredActions out) {
        pursue(out);
        endOverdue(out);
        if (claims.dropUnwanted(queue, out)) {
            pursue(out);
        }
        tidy();
    }

    /** Sees to it that the head of the queue is on its way to a hold. */
    void pursue(DeferredActions out) {
        if (part.context.isClosing()) {
            return;
        }
        LocalClaim held = claims.firstGrant();
        while (held != null && (held.isIdle() || !hasSeveralGrants())) {
            LocalClaim following = held.nextGrant;
            if (held.state == Claim.State.HELD && part.context.rules().mayPartWith(!held.isIdle() && !isShared())) {
                passOn(held, out);
            }
            held = following;
        }
        Request first = queue.head();
        if (first == null) {
            return;
        }
        if (!claims.mayAsk(first)) {
            if (isBarging() && claims.isWaiting()) {
                barge(out);
            }
            if (queue.hasTries() && !claims.isAsking()) {
                // It is known by now that who is before them has to wait.
                endThose(
                        request -> request.isTry
                                && !claims.isBarging(request)
                                && (spec.kind() != Kind.LATCH || claims.mustWait(request)),
                        null,
                        out);
            }
            if (spec.kind() == Kind.LATCH) {
                claims.cover(queue, out);
            }
            return;
        }
        Session session = part.session();
        if (session == null) {
            out.add(() -> part.needSession(Caller.GOES_ON));
        } else {
            claims.ask(session, first, queue, out);
        }
    }

    /** Those who have come since the last time ask the store past the claim that waits there, each for itself, once. */
    private void barge(DeferredActions out) {
        for (Request next = queue.takeNewcomers(); next != null; next = next.next) {
            claims.barge(next, queue, out);
        }
    }

    /**
     * Hands a grant to the first requests that it suits, as far as there is room; or, when nobody uses it, yields it or
     * gives it back.
     */
    private void passOn(LocalClaim held, DeferredActions out) {
        boolean goesOn = true;
        while (goesOn && held.state == Claim.State.HELD) {
            Request first = queue.head();
            if (first == null) {
                if (held.isIdle() && !isLingering()) {
                    claims.giveBack(held, Caller.GOES_ON, null, out);
                }
                return;
            }
            boolean isToDrain = isShared() && !held.isIdle();
            if (isToDrain && !(held.suits(first) && held.hasRoomFor(first) && !claims.isSpent(held))) {
                return;
            }
            goesOn = passOn(held, first, out) && isShared();
        }
    }

    /** Hands a grant to the head of the queue, or to one that goes past it; whether it did. */
    private boolean passOn(LocalClaim held, Request first, DeferredActions out) {
        if (!part.validity.mayPassOn(held)) {
            out.add(() -> part.validity.expireIfDue(held));
        } else if (!part.validity.mayHandOn(held)) {
            out.add(() -> part.validity.resolveDoubt(held));
        } else if (spec.kind() == Kind.LATCH && !held.suits(first)) {
            if (!held.isCovering) {
                claims.giveBack(held, Caller.GOES_ON, null, out);
            }
        } else if (claims.mustYield(held, first)) {
            claims.giveWay(held, first, queue, out);
        } else {
            queue.remove(first);
            try {
                if (serve(held, first, out)) {
                    return true;
                }
            } finally {
                if (!first.isDone()) {
                    queue.prepend(first);
                }
            }
            claims.advance(held, queue, out);
        }
        return false;
    }

    // ---- Small parts

    @Override
    public long newestRequest() {
        return queue.newest();
    }

    @Override
    @Nullable
    LocalHold shareOf(Thread thread) {
        if (spec.kind() == Kind.READ_WRITE) {
            for (LocalClaim held = claims.firstGrant(); held != null; held = held.nextGrant) {
                LocalHold mine = held.holdOf(thread);
                if (mine != null) {
                    return mine;
                }
            }
        }
        return null;
    }

    @Override
    @Nullable
    LocalHold lostHoldOf(Thread thread) {
        return lost.of(thread);
    }

    private void end(
            Request request,
            @Nullable LocalHold hold,
            @Nullable Supplier<RuntimeException> failure,
            DeferredActions out) {
        request.end(hold, failure);
        if (request.future != null) {
            out.add(() -> RequestCompletion.complete(part.context, request));
        } else if (request.waiter != Thread.currentThread()) {
            out.add(request::wake);
        }
    }

    /** Keeps nothing that is not needed: an empty queue, unless its numbers go on, and a resource that nobody uses. */
    void tidy() {
        if (queue.isEmpty() && spec.kind() != Kind.LATCH) {
            queue = RequestQueue.NONE;
        }
        if (queue.isEmpty() && claims.isNone() && lost.isEmpty() && !isRemoved) {
            isRemoved = true;
            registry.remove(name, this);
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
