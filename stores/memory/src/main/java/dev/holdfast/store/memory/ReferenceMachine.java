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
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The executable specification of a store: a state machine that answers each command from the state, the command and
 * the time, and from nothing else. Two machines that are given the same commands at the same times answer the same.
 *
 * <p>Each step first ends everything whose time has come, in the whole store, and admits who can go on; {@link #expire}
 * does that alone. A store may do it later, at the latest in the next command that looks at the resource or the
 * session: but for the values of tokens and the moment of signals nobody can tell.
 *
 * <p>Time may go back: leases then last longer, and what has ended stays ended.
 *
 * <p><b>Thread-safety:</b> none; {@link ReferenceStore} adds it.
 */
public final class ReferenceMachine {

    /** The epoch of a retired session; commands stay below it. */
    private static final long RETIRED = Long.MAX_VALUE;

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private final State state;

    /** Makes an empty store. */
    public ReferenceMachine() {
        this(new State());
    }

    /** Makes an empty store that keeps sessions in partitions. */
    public ReferenceMachine(int partitions) {
        this(new State(partitions));
    }

    ReferenceMachine(State state) {
        this.state = state;
    }

    /** As {@link dev.holdfast.spi.LockStore#partitions()}. */
    public int partitions() {
        return state.partitions();
    }

    /** As {@link dev.holdfast.spi.LockStore#partitionOf}. */
    public int partitionOf(ResourceName name) {
        return state.partitionOf(name);
    }

    /**
     * What came of a step.
     *
     * @param reply the answer to the command
     * @param signals what a store that pushes tells, in order; each goes to the client whose session it names
     */
    public record Outcome(Reply reply, List<Signal> signals) {}

    /**
     * Carries out one command.
     *
     * @param unixMicros the store's clock, in microseconds since 1970
     */
    public Outcome apply(Command command, long unixMicros) {
        state.begin(unixMicros);
        Reply reply = answer(command);
        return new Outcome(reply, state.takeSignals());
    }

    /** Ends everything whose time has come, and admits who can go on; returns what a store that pushes tells. */
    public List<Signal> expire(long unixMicros) {
        state.begin(unixMicros);
        return state.takeSignals();
    }

    private Reply answer(Command command) {
        if (command instanceof Acquire acquire) {
            return acquire(acquire);
        } else if (command instanceof Release release) {
            return release(release);
        } else if (command instanceof Command.OnResource onResource) {
            return answerOnResource(onResource);
        } else if (command instanceof Poll poll) {
            return poll(poll);
        } else if (command instanceof KeepAlive keepAlive) {
            return keepAlive(keepAlive);
        } else if (command instanceof OpenSession open) {
            Session session = state.open(open);
            return new Reply.SessionOpened(session.id, State.duration(session.ttl));
        } else if (command instanceof Retire retire) {
            return retire(retire);
        } else if (command instanceof CloseSession close) {
            return closeSession(close);
        } else if (command instanceof Audit audit) {
            return Reports.audit(state, audit);
        } else if (command instanceof Inspect inspect) {
            return Reports.inspect(state, inspect);
        }
        throw new IllegalArgumentException("Not a command that this store knows: " + command);
    }

    private Reply answerOnResource(Command.OnResource command) {
        if (command instanceof Advance advance) {
            return advance(advance);
        } else if (command instanceof Yield yield) {
            return yieldFor(yield);
        } else if (command instanceof Withdraw withdraw) {
            return withdraw(withdraw);
        } else if (command instanceof ShrinkTo shrink) {
            return shrinkTo(shrink);
        } else if (command instanceof Extend extend) {
            return extend(extend);
        } else if (command instanceof SetCount setCount) {
            return setCount(setCount);
        } else if (command instanceof CountDown countDown) {
            return countDown(countDown);
        } else if (command instanceof Resize resize) {
            return resize(resize);
        } else if (command instanceof ForceRelease force) {
            return forceRelease(force);
        }
        throw new IllegalArgumentException("Not a command that this store knows: " + command);
    }

    // Sessions

    private Reply keepAlive(KeepAlive command) {
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

    private Reply retire(Retire command) {
        Session session = state.liveSession(command.session());
        if (session != null) {
            session.epoch = RETIRED;
        }
        return new Reply.Done();
    }

    private Reply closeSession(CloseSession command) {
        Session session = state.liveSession(command.session());
        if (session != null) {
            state.end(session);
        }
        return new Reply.Done();
    }

    // Claims

    private Reply acquire(Acquire command) {
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

    private Reply poll(Poll command) {
        List<Reply.ClaimReply> states = new ArrayList<>(command.claims().size());
        for (ClaimRef ref : command.claims()) {
            Claim claim = state.claim(ref);
            states.add(claim == null ? new Reply.Absent() : present(claim));
        }
        return new Reply.Polled(states);
    }

    private Reply withdraw(Withdraw command) {
        Claim claim = state.claim(command.claim());
        if (claim != null) {
            state.drop(claim);
            state.settle(claim.resource);
        }
        return new Reply.Done();
    }

    private Reply release(Release command) {
        Claim grant = state.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        state.drop(grant);
        state.settle(grant.resource);
        return new Reply.Released();
    }

    private Reply yieldFor(Yield command) {
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

    private Reply advance(Advance command) {
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

    private Reply shrinkTo(ShrinkTo command) {
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

    private Reply extend(Extend command) {
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

    private Reply setCount(SetCount command) {
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

    private Reply countDown(CountDown command) {
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

    private Reply resize(Resize command) {
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

    private Reply forceRelease(ForceRelease command) {
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
}
