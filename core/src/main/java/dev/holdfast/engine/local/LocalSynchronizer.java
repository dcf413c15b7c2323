package dev.holdfast.engine.local;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * The local tier of one resource. Local requests queue here, first in, first out. While there are any, the resource
 * keeps one claim in the store's queue; when that is granted, the grant is passed from request to request in memory,
 * each with the next token of its block, until nobody wants it (it is released), its budget is spent and others wait at
 * the store (it is yielded for a new place at the tail), or it is lost.
 *
 * A mutex or read-write lock has one grant at a time, and readers of this process share it. Of a semaphore there may be
 * many, each for one request at a time; while a request waits one more is asked for, and what does not suit it goes
 * back to the store first. A pass grant of a latch serves all that queued here while its claim did at the store.
 *
 * All of this is one state machine under one lock, and this class its state: who waits, and what is to be done next.
 * The claims and the grants at the store are in ResourceClaims; HandOff gives a grant to a request, RequestCancellation
 * ends requests without one, HoldRelease takes a hold back, DelayedRelease keeps a grant a little longer, and
 * ResourceMaintenance looks after the rest.
 *
 * Lock order: the lock of a resource is taken before that of the keeper's, of no other resource, and never held while
 * anything outside the engine is called: commands, wake-ups and listeners go into deferred actions that run when the
 * lock is free.
 */

/** The queue and the grants of one resource in this process. Thread-safe. */
public final class LocalSynchronizer extends LocalResource {

    private final ConcurrentMap<ResourceName, LocalSynchronizer> registry;
    // All guarded by lock.
    RequestQueue queue = RequestQueue.NONE;
    LostHolds lost = LostHolds.NONE;
    final ResourceClaims claims;

    /** When the newest turn ends. */
    long turnsEnd;

    /** What is kept a little longer than it is used; null before there was anything. */
    private @Nullable DelayedRelease lingering;

    private boolean isRemoved;

    /** Makes the resource of a name, which leaves {@code registry} when nobody uses it any more. */
    LocalSynchronizer(
            Partition partition,
            ConcurrentMap<ResourceName, LocalSynchronizer> registry,
            ResourceName name,
            ResourceSpec spec) {
        super(partition, name, spec);
        this.registry = registry;
        this.claims = new ResourceClaims(this);
    }

    /** Whether a request may go past those that wait here for more. */
    private boolean isBarging() {
        return policy.isBarging(spec.order());
    }

    DelayedRelease lingering() {
        DelayedRelease present = lingering;
        if (present == null) {
            present = new DelayedRelease(this);
            lingering = present;
        }
        return present;
    }

    boolean isLingering() {
        return lingering != null && lingering.isKeeping();
    }

    // ---- Requests come and go

    /**
     * Serves a request or queues it.
     *
     * @return false if this resource was removed meanwhile: take the next
     */
    boolean enter(Request request) {
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
            RequestCompletion.end(partition.context, request, null, () -> new LockLostException(lossOf(lostHold)), out);
        } else if (partition.context.isClosing()) {
            RequestCompletion.end(partition.context, request, null, partition.context.failures()::closed, out);
        } else if (HandOff.serveAtOnce(this, request, out)) {
            return;
        } else if (request.isTry && !mayTry(request, out)) {
            request.refusal = "this client ('" + partition.context.options().label() + "') has it or asks for it";
            RequestCompletion.end(partition.context, request, null, null, out);
        } else {
            request.answersBefore = claims.answers();
            if (queue.isEmpty()) {
                HandOff.beginSharedTurn(this);
            }
            request.sessionsAskedFor = partition.keeper.attempts();
            queue = queue.orNew();
            queue.append(request);
            pursue(out);
            request.isAskedFor = request == queue.head() && claims.isAsking();
        }
        tidy();
    }

    /**
     * Whether a request that does not wait may ask the store; a grant that is kept idle does not stand in its way.
     * Where several can hold, it may also stand behind those who have no answer yet: nobody knows then that they have
     * to wait.
     */
    private boolean mayTry(Request request, DeferredActions out) {
        if (policy.grantsPasses()) {
            // It may have opened, and nobody here was told yet.
            return true;
        }
        if (!queue.isEmpty()) {
            return spec.capacity() > 1 && (claims.isAsking() || isBarging());
        }
        LocalGrant held = claims.firstGrant();
        if (isLingering() && held != null && held.isIdle() && !held.suits(request) && held.state == Claim.State.HELD) {
            claims.giveBack(held, out);
        }
        return claims.mayAsk(request) || hasIdleGrantFor(request);
    }

    /** Whether an unused grant serves a request as soon as the store has confirmed it. */
    private boolean hasIdleGrantFor(Request request) {
        for (LocalGrant held = claims.firstGrant(); held != null; held = held.nextGrant) {
            if (held.isIdle() && held.state == Claim.State.HELD && held.suits(request)) {
                return true;
            }
        }
        return false;
    }

    // ---- Holds

    @Override
    public CompletableFuture<ReleaseOutcome> release(LocalHold hold, CallerMode caller) {
        return HoldRelease.release(this, hold, caller);
    }

    @Override
    public void downgrade(LocalHold hold) {
        HoldRelease.downgrade(this, hold);
    }

    // ---- The store's answers, by way of the claim driver, which holds the lock

    /** A claim was granted. */
    @Override
    public void granted(LocalClaim of, Reply.Granted reply, DeferredActions out) {
        Request past = of.bargesFor();
        if (claims.granted(of, reply, out)) {
            loseWhatIsExcludedBy(of, out);
            claims.take(of, reply, queue);
        }
        if (past != null && past.isQueued && of.state == Claim.State.HELD) {
            HandOff.passOn(this, of, past, out);
        }
        react(out);
    }

    /**
     * The store has admitted a claim: a grant for which there is no room beside it is gone there, whatever we believed.
     */
    private void loseWhatIsExcludedBy(LocalClaim of, DeferredActions out) {
        if (!claims.isWithoutGrants() && !policy.hasSeveralGrants()) {
            for (LocalGrant held : claims.allGrants()) {
                if ((long) held.weight + of.weight > spec.capacity()) {
                    HoldRelease.lose(this, held, Loss.Cause.REMOVED, out);
                }
            }
        }
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

    @Override
    void notGranted(LocalClaim of, Claim.Denial how, @Nullable Supplier<RuntimeException> why, DeferredActions out) {
        boolean isAwaited = switch (how) {
            case TAKEN, TOO_HEAVY, REFUSED -> claims.refused(of, out);
            case UNREACHABLE -> !of.isDead;
        };
        if (isAwaited) {
            Predicate<Request> concerned = switch (how) {
                case TAKEN -> request -> of.suits(request) && (request.isTry || !of.isBarging);
                case TOO_HEAVY -> request -> request.weight() >= of.weight;
                case REFUSED, UNREACHABLE -> request -> true;
            };
            Request only = of.boundTo();
            if (only != null && how == Claim.Denial.TAKEN) {
                // It suits no other, and thousands may ask at a time.
                if (only.isQueued && concerned.test(only)) {
                    RequestCancellation.end(this, only, why, of.refusal, out);
                }
            } else {
                RequestCancellation.endThose(this, concerned, why, of.refusal, out);
            }
        }
        react(out);
    }

    /** The store does not know a claim. */
    @Override
    public void vanished(LocalClaim of, DeferredActions out) {
        if (of.state == Claim.State.HELD) {
            HoldRelease.lose(this, of, Loss.Cause.REMOVED, out);
        } else {
            claims.vanished(of);
        }
        react(out);
    }

    /** A fresh token block; or none, where the store has no more. */
    @Override
    public void advanced(LocalClaim of, Reply.@Nullable Advanced reply, DeferredActions out) {
        of.replenish(reply);
        react(out);
    }

    /** A dead claim can have no effect any more. */
    @Override
    public void withdraw(LocalClaim dead, DeferredActions out) {
        claims.withdraw(dead, out);
        react(out);
    }

    /** All claims and grants of a session are over. */
    void sessionOver(Session session, Loss.Cause cause) {
        step(out -> {
            claims.sessionOver(session, out);
            for (LocalGrant held : claims.allGrants()) {
                if (held.session == session && !held.isDetached()) {
                    HoldRelease.lose(this, held, cause, out);
                }
            }
            queue.renew();
            react(out);
        });
    }

    /** Ends a grant for a cause that the client found: its lease, the client. */
    @Override
    public void end(LocalGrant held, Loss.Cause cause) {
        step(out -> {
            if (held.state == Claim.State.HELD && claims.hasGrant(held)) {
                HoldRelease.lose(this, held, cause, out);
                pursue(out);
                tidy();
            }
        });
    }

    /** The session was opened or renewed, or a doubt is over: what waited for that goes on. */
    void goOn() {
        step(this::react);
    }

    /** The claim or grant of this identity, if it is here. */
    @Nullable
    Claim claimOf(ClaimRef ref) {
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
        RequestCancellation.endOverdue(this, out);
        if (claims.dropUnwanted(queue, out)) {
            pursue(out);
        }
        tidy();
    }

    /** Sees to it that the head of the queue is on its way to a hold. */
    void pursue(DeferredActions out) {
        if (partition.context.isClosing()) {
            return;
        }
        LocalGrant held = claims.firstGrant();
        while (held != null && (held.isIdle() || !policy.hasSeveralGrants())) {
            LocalGrant following = held.nextGrant;
            if (held.state == Claim.State.HELD
                    && partition.context.rules().mayPartWith(!held.isIdle() && !policy.isShared())) {
                HandOff.passOn(this, held, out);
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
            if (queue.hasIdleTries() && !claims.isAsking()) {
                // It is known by now that who is before them has to wait.
                RequestCancellation.endThose(
                        this,
                        request -> request.isTry
                                && !claims.isBarging(request)
                                && !hasIdleGrantFor(request)
                                && (!policy.grantsPasses() || claims.mustWait(request)),
                        null,
                        null,
                        out);
            }
            if (policy.grantsPasses()) {
                claims.cover(queue, out);
            }
            return;
        }
        Session session = partition.session();
        if (session == null) {
            out.add(() -> partition.needSession(CallerMode.ASYNC));
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

    // ---- Small parts

    /** How many holds are live here. */
    public int holds() {
        lock.lock();
        try {
            int holds = 0;
            for (LocalGrant held = claims.firstGrant(); held != null; held = held.nextGrant) {
                holds += held.holdCount();
            }
            return holds;
        } finally {
            lock.unlock();
        }
    }

    /** How many requests wait here. */
    public int waiting() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    void bargesNoLonger(Request request) {
        queue.noteBargingEnded(request);
    }

    @Override
    public long newestRequest() {
        return queue.newest();
    }

    @Override
    @Nullable
    LocalHold shareOf(Thread thread) {
        if (policy.hasReaders()) {
            for (LocalGrant held = claims.firstGrant(); held != null; held = held.nextGrant) {
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

    /** Keeps nothing that is not needed: an empty queue, unless its numbers go on, and a resource that nobody uses. */
    void tidy() {
        if (queue.isEmpty() && !policy.grantsPasses()) {
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
