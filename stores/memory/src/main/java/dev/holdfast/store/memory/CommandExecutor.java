package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.ForceRelease;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.Poll;
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
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Executes each command on the state and answers it; what is due has expired before. */
final class CommandExecutor implements CommandHandler<Reply, RuntimeException> {

    /** The epoch of a retired session; commands stay below it. */
    private static final long RETIRED = Long.MAX_VALUE;

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private final State state;

    CommandExecutor(State state) {
        this.state = state;
    }

    // Sessions

    @Override
    public Reply openSession(OpenSession command) {
        Session session = state.open(command);
        return new Reply.SessionOpened(session.id, State.duration(session.ttl));
    }

    @Override
    public Reply keepAlive(KeepAlive command) {
        Session session = state.liveSession(command.session());
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
        Session session = state.liveSession(command.session());
        if (session != null) {
            session.epoch = RETIRED;
        }
        return new Reply.Done();
    }

    @Override
    public Reply closeSession(CloseSession command) {
        Session session = state.liveSession(command.session());
        if (session != null) {
            state.end(session);
        }
        return new Reply.Done();
    }

    @Override
    public Reply audit(Audit command) {
        return Reports.audit(state, command);
    }

    // Claims

    @Override
    public Reply acquire(Acquire command) {
        Session session = state.liveSession(command.claim().session(), command.resource());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        Claim present = state.claim(command.claim());
        return present != null ? present(present) : make(session, command);
    }

    private Reply make(Session session, Acquire command) {
        Resource known = state.inUse(command.resource());
        Reply.@Nullable Refused refused = refused(known, command);
        if (refused != null) {
            return refused;
        }
        Resource resource = state.use(command.resource(), command.spec());
        if (resource.admitsAtOnce(command.weight())) {
            Claim granted = state.admit(resource, session, command);
            state.settle(resource);
            return granted == null ? spent() : present(granted);
        }
        if (command.waiting() == Command.Waiting.TRY) {
            return new Reply.Refused(Refusal.TAKEN, Reports.taken(state, resource));
        }
        return present(state.enqueue(resource, session, command));
    }

    /** Why a claim can never be made as things are, room aside; null if it can. */
    private static Reply.@Nullable Refused refused(@Nullable Resource known, Acquire command) {
        if (known != null && !known.declared.equals(command.spec())) {
            return mismatch(known);
        }
        if (known != null && command.weight() > known.capacity) {
            return new Reply.Refused(
                    Refusal.TOO_HEAVY,
                    "the claim asks for " + command.weight() + ", but the capacity is " + known.capacity
                            + " at present");
        }
        return null;
    }

    private static Reply.Refused mismatch(Resource known) {
        return new Reply.Refused(Refusal.MISMATCH, "it is in use as " + Reports.text(known.declared));
    }

    private static Reply.Refused spent() {
        return new Reply.Refused(Refusal.EXHAUSTED, "its fencing tokens are used up");
    }

    /** The state of a claim, for the claimant: where it is a grant, the claimant picks it up with this. */
    private Reply.ClaimReply present(Claim claim) {
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
            Claim claim = state.claim(ref);
            states.add(claim == null ? new Reply.Absent() : present(claim));
        }
        return new Reply.Polled(states);
    }

    @Override
    public Reply withdraw(Withdraw command) {
        Claim claim = state.claim(command.claim());
        if (claim != null) {
            state.drop(claim);
            state.settle(claim.resource);
        }
        return new Reply.Done();
    }

    @Override
    public Reply release(Release command) {
        Claim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        state.drop(grant);
        state.settle(grant.resource);
        return new Reply.Released();
    }

    @Override
    public Reply yieldFor(Yield command) {
        Session session = state.liveSession(command.claim().session(), command.resource());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        Acquire next = command.next();
        if (next.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        Claim grant = state.grant(command.claim());
        if (grant == null) {
            return acquire(next);
        }
        Reply.@Nullable Refused refused =
                state.isSpent(grant.resource.lastToken) ? spent() : refused(grant.resource, next);
        if (refused != null) {
            return refused;
        }
        state.drop(grant);
        state.settle(grant.resource);
        return acquire(next);
    }

    @Override
    public Reply advance(Advance command) {
        Claim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        TokenBlock tokens = state.granted(grant).tokens();
        if (tokens.last() == command.blockEnd()) {
            TokenBlock fresh = state.reserve(grant.resource, command.atLeast(), command.tokens());
            if (fresh == null) {
                return new Reply.Unsupported("its fencing tokens are used up");
            }
            grant.tokens = fresh;
            tokens = fresh;
        }
        return new Reply.Advanced(tokens, !grant.resource.queue.isEmpty());
    }

    @Override
    public Reply shrinkTo(ShrinkTo command) {
        Claim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        int given = Math.max(0, grant.weight - command.weight());
        grant.weight -= given;
        grant.resource.held -= given;
        state.settle(grant.resource);
        return new Reply.Done();
    }

    @Override
    public Reply extend(Extend command) {
        Claim grant = state.grant(command.claim());
        if (grant == null || !grant.hasOwnLease()) {
            return new Reply.Absent();
        }
        state.pickUp(grant);
        if (command.seq() > grant.extension) {
            grant.extension = command.seq();
            state.endAt(grant, state.now() + State.micros(command.lease()));
        }
        return new Reply.Extended(grant.extension, State.duration(grant.left(state.now())));
    }

    // Resources

    @Override
    public Reply setCount(SetCount command) {
        Session session = state.liveSession(command.session(), command.resource());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        Resource resource = state.use(command.resource(), LATCH);
        if (resource.declared.kind() != Kind.LATCH) {
            return mismatch(resource);
        }
        Latch latch = resource.latch;
        if (latch == null) {
            latch = new Latch();
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
        Resource resource = state.use(command.resource(), LATCH);
        if (resource.declared.kind() != Kind.LATCH) {
            return mismatch(resource);
        }
        Latch latch = resource.latch;
        if (latch != null && latch.generation == command.generation()) {
            latch.countDown(command.id(), command.n());
        }
        state.settle(resource);
        return latch == null ? new Reply.Count(0, 0) : new Reply.Count(latch.generation, latch.remaining);
    }

    @Override
    public Reply resize(Resize command) {
        Session session = state.liveSession(command.session(), command.resource());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        Resource resource = state.inUse(command.resource());
        if (resource == null) {
            return new Reply.Absent();
        }
        if (resource.declared.kind() != Kind.SEMAPHORE) {
            return mismatch(resource);
        }
        resource.capacity = command.capacity();
        for (Claim waiter : List.copyOf(resource.queue.values())) {
            if (waiter.weight > resource.capacity) {
                state.drop(waiter);
                state.tell(new Signal.Changed(waiter.ref));
            }
        }
        state.settle(resource);
        return new Reply.Done();
    }

    @Override
    public Reply forceRelease(ForceRelease command) {
        Resource resource = state.inUse(command.resource());
        if (resource == null) {
            return new Reply.Absent();
        }
        for (Claim grant : resource.grants.values()) {
            TokenBlock tokens = grant.tokens;
            if (tokens != null && tokens.first() <= command.token() && command.token() <= tokens.last()) {
                state.tell(new Signal.Revoked(grant.ref));
                state.drop(grant);
                state.settle(grant.resource);
                return new Reply.Released();
            }
        }
        return new Reply.Absent();
    }

    @Override
    public Reply inspect(Inspect command) {
        return Reports.inspect(state, command);
    }
}
