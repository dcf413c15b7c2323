package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.ForceRelease;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.ListRuns;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.Retire;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.ShrinkTo;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Refusals;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Executes each command on the state and returns its reply. The caller has already expired what is due. */
final class ReferenceExecutor implements CommandHandler<Reply, RuntimeException> {

    /** The epoch of a retired session; commands stay below it. */
    private static final long RETIRED = Long.MAX_VALUE;

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private final State state;

    ReferenceExecutor(State state) {
        this.state = state;
    }

    // Sessions

    @Override
    public Reply openSession(OpenSession command) {
        MemorySession session = state.open(command);
        return new Reply.SessionOpened(session.id, Micros.duration(session.ttl));
    }

    @Override
    public Reply keepAlive(KeepAlive command) {
        MemorySession session = state.liveSession(command.session());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        session.epoch = command.epoch();
        state.renew(session);
        return new Reply.SessionAlive();
    }

    @Override
    public Reply retire(Retire command) {
        MemorySession session = state.liveSession(command.session());
        if (session != null) {
            session.epoch = RETIRED;
        }
        return new Reply.Done();
    }

    @Override
    public Reply closeSession(CloseSession command) {
        MemorySession session = state.liveSession(command.session());
        if (session != null) {
            state.end(session);
        }
        return new Reply.Done();
    }

    @Override
    public Reply audit(Audit command) {
        return ReferenceReports.audit(state, command);
    }

    /** Why a command of a session must not have an effect; null if it may. */
    private static @Nullable Reply rejection(@Nullable MemorySession session, long epoch) {
        if (session == null) {
            return new Reply.SessionEnded();
        }
        return epoch < session.epoch ? new Reply.Stale() : null;
    }

    // Claims

    @Override
    public Reply acquire(Acquire command) {
        MemorySession session = state.liveSession(command.claim().session(), command.resource());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        MemoryClaim present = state.claim(command.claim());
        return present != null ? present(present) : make(session, command);
    }

    private Reply make(MemorySession session, Acquire command) {
        MemoryResource known = state.inUse(command.resource());
        Reply.@Nullable Refused refused = refused(known, command);
        if (refused != null) {
            return refused;
        }
        MemoryResource resource = state.use(command.resource(), command.spec());
        if (resource.admitsAtOnce(command.weight())) {
            MemoryClaim granted = state.admit(resource, session, command);
            state.settle(resource);
            return granted == null ? Refusals.OUT_OF_TOKENS : present(granted);
        }
        if (command.waiting() == Command.Waiting.TRY) {
            return ReferenceReports.taken(state, resource);
        }
        return present(state.enqueue(resource, session, command));
    }

    /** Why a claim can't be made even with enough room; null if it can. */
    private static Reply.@Nullable Refused refused(@Nullable MemoryResource known, Acquire command) {
        if (known != null && !known.declared.equals(command.spec())) {
            return Refusals.mismatch(known.declared);
        }
        if (known != null && command.weight() > known.capacity) {
            return Refusals.tooHeavy(command.weight(), known.capacity);
        }
        return null;
    }

    /** The state of a claim as reported to its claimant; reporting a grant picks it up. */
    private Reply.ClaimReply present(MemoryClaim claim) {
        if (claim.tokens == null) {
            return state.queued(claim);
        }
        state.pickUp(claim);
        return state.granted(claim);
    }

    @Override
    public Reply poll(Poll command) {
        List<Reply.ClaimReply> states = new ArrayList<>(command.claims().size());
        for (ClaimRef ref : command.claims()) {
            MemoryClaim claim = state.claim(ref);
            states.add(claim == null ? new Reply.Absent() : present(claim));
        }
        return new Reply.Polled(states);
    }

    @Override
    public Reply withdraw(Withdraw command) {
        MemoryClaim claim = state.claim(command.claim());
        if (claim != null) {
            state.drop(claim);
            state.settle(claim.resource);
        }
        return new Reply.Done();
    }

    @Override
    public Reply release(Release command) {
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        state.drop(grant);
        state.settle(grant.resource);
        return new Reply.Released();
    }

    @Override
    public Reply yieldFor(Yield command) {
        Acquire next = command.next();
        Reply rejection = rejection(state.liveSession(command.claim().session(), command.resource()), next.epoch());
        if (rejection != null) {
            return rejection;
        }
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null) {
            return acquire(next);
        }
        Reply.@Nullable Refused refused =
                state.isSpent(grant.resource.lastToken) ? Refusals.OUT_OF_TOKENS : refused(grant.resource, next);
        if (refused != null) {
            return refused;
        }
        state.drop(grant);
        state.settle(grant.resource);
        return acquire(next);
    }

    @Override
    public Reply advance(Advance command) {
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        TokenBlock tokens = state.granted(grant).tokens();
        if (tokens.last() == command.blockEnd()) {
            TokenBlock fresh = state.reserve(grant.resource, command.atLeast(), command.tokens());
            if (fresh == null) {
                return new Reply.Unsupported("its fencing tokens are exhausted");
            }
            grant.tokens = fresh;
            tokens = fresh;
        }
        return new Reply.Advanced(tokens, !grant.resource.queue.isEmpty());
    }

    @Override
    public Reply shrinkTo(ShrinkTo command) {
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        int released = Math.max(0, grant.weight - command.weight());
        grant.weight -= released;
        grant.resource.heldWeight -= released;
        state.settle(grant.resource);
        return new Reply.Done();
    }

    @Override
    public Reply extend(Extend command) {
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null || !grant.hasFixedLease()) {
            return new Reply.Absent();
        }
        state.pickUp(grant);
        if (command.seq() > grant.extension) {
            grant.extension = command.seq();
            state.endAt(grant, state.now() + Micros.of(command.lease()));
        }
        return new Reply.Extended(grant.extension, Micros.duration(grant.left(state.now())));
    }

    @Override
    public Reply annotate(Annotate command) {
        MemoryClaim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        state.annotate(grant, command);
        return new Reply.Done();
    }

    // Resources

    @Override
    public Reply setCount(SetCount command) {
        Reply rejection = rejection(state.liveSession(command.session(), command.resource()), command.epoch());
        if (rejection != null) {
            return rejection;
        }
        MemoryResource resource = state.use(command.resource(), LATCH);
        if (resource.declared.kind() != Kind.LATCH) {
            return Refusals.mismatch(resource.declared);
        }
        MemoryLatch latch = resource.latch;
        if (latch == null) {
            latch = new MemoryLatch();
            resource.latch = latch;
        }
        if (latch.remaining == 0 && command.generation() > latch.generation) {
            latch.begin(command.generation(), command.count());
        }
        state.settle(resource);
        return new Reply.Count(latch.generation, latch.remaining);
    }

    @Override
    public Reply countDown(CountDown command) {
        MemoryResource resource = state.use(command.resource(), LATCH);
        if (resource.declared.kind() != Kind.LATCH) {
            return Refusals.mismatch(resource.declared);
        }
        MemoryLatch latch = resource.latch;
        if (latch != null && latch.generation == command.generation()) {
            latch.countDown(command.id(), command.n());
        }
        state.settle(resource);
        return latch == null ? new Reply.Count(0, 0) : new Reply.Count(latch.generation, latch.remaining);
    }

    @Override
    public Reply resize(Resize command) {
        Reply rejection = rejection(state.liveSession(command.session(), command.resource()), command.epoch());
        if (rejection != null) {
            return rejection;
        }
        MemoryResource resource = state.inUse(command.resource());
        if (resource == null) {
            return new Reply.Absent();
        }
        if (resource.declared.kind() != Kind.SEMAPHORE) {
            return Refusals.mismatch(resource.declared);
        }
        resource.capacity = command.capacity();
        for (MemoryClaim waiter : List.copyOf(resource.queue.values())) {
            if (waiter.weight > resource.capacity) {
                state.drop(waiter);
                state.signal(new Signal.Changed(waiter.ref));
            }
        }
        state.settle(resource);
        return new Reply.Done();
    }

    @Override
    public Reply forceRelease(ForceRelease command) {
        MemoryResource resource = state.inUse(command.resource());
        if (resource == null) {
            return new Reply.Absent();
        }
        for (MemoryClaim grant : resource.grants.values()) {
            TokenBlock tokens = grant.tokens;
            if (tokens != null && tokens.first() <= command.token() && command.token() <= tokens.last()) {
                state.signal(new Signal.Revoked(grant.ref));
                state.drop(grant);
                state.settle(grant.resource);
                return new Reply.Released();
            }
        }
        return new Reply.Absent();
    }

    @Override
    public Reply recordRun(RecordRun command) {
        state.addRun(command);
        return new Reply.Done();
    }

    @Override
    public Reply listRuns(ListRuns command) {
        return new Reply.Runs(state.runsOf(command.resource()));
    }

    @Override
    public Reply inspect(Inspect command) {
        return ReferenceReports.inspect(state, command);
    }
}
