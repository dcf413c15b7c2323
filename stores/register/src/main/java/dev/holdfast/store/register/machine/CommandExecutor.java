package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.Refusals;
import dev.holdfast.store.register.SessionRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Executes each command on the state of its resource, from which ended claims were dropped before. */
final class CommandExecutor implements CommandHandler<Answer, RuntimeException> {

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    /** With this many parties, or ids that counted, the size of a state is checked. */
    private static final int MANY = 100;

    private final Moves moves;
    private final ResourceState state;
    private final int maxBytes;

    /** The sessions of the commands, each with the lowest epoch of its commands. */
    final Map<SessionId, Long> writers = new HashMap<>();

    /** How many claims were queued. */
    int enqueued;

    /** @param maxBytes how large an encoded state may become */
    CommandExecutor(Moves moves, int maxBytes) {
        this.moves = moves;
        this.state = moves.state;
        this.maxBytes = maxBytes;
    }

    /** Null if the session lives, as far as is known, and its epoch is not above. */
    private @Nullable Answer refusedFor(SessionId id, long epoch) {
        if (moves.facts.isGone(id)) {
            return Answers.SESSION_ENDED;
        }
        SessionRecord known = moves.facts.session(id);
        if (known != null && epoch < known.epoch()) {
            return Answers.STALE;
        }
        writers.merge(id, epoch, Math::min);
        return null;
    }

    @Override
    public Answer acquire(Acquire command) {
        Answer refusal = refusedFor(command.claim().session(), command.epoch());
        if (refusal != null) {
            return refusal;
        }
        ClaimEntry present = moves.claimOf(command.claim());
        return present != null ? present(present) : make(command);
    }

    private Answer make(Acquire command) {
        Answer refusal = refused(command);
        if (refusal != null) {
            return refusal;
        }
        ResourceSpec spec = state.use(command.spec());
        ClaimEntry claim = moves.claim(command);
        Answer answer;
        if (state.admitsAtOnce(spec, command.weight())) {
            answer = moves.grant(claim) ? present(claim) : Answer.of(Refusals.OUT_OF_TOKENS);
        } else if (command.waiting() == Command.Waiting.TRY) {
            answer = Answers.taken(state);
        } else {
            enqueue(claim);
            answer = Answers.queued(moves, claim);
        }
        moves.settle();
        return answer;
    }

    /**
     * Queues a claim that another client has announced, or grants it if there is room, with a notice as for any waiter.
     * A claim that would be refused is left to its own client, which needs the answer.
     *
     * @return whether it was queued or granted
     */
    boolean add(Acquire command) {
        if (refused(command) != null || refusedFor(command.claim().session(), command.epoch()) != null) {
            return false;
        }
        if (moves.claimOf(command.claim()) == null) {
            var unused = state.use(command.spec());
            enqueue(moves.claim(command));
            moves.settle();
        }
        return true;
    }

    private void enqueue(ClaimEntry claim) {
        claim.queuedAt = moves.facts.shown();
        state.queue.put(claim.ref, claim);
        enqueued++;
    }

    /** The refusal of a claim that can't even wait at present; null if it can. */
    private @Nullable Answer refused(Acquire command) {
        ResourceSpec known = state.declared;
        if (known != null && !known.equals(command.spec())) {
            return Answer.of(Refusals.mismatch(known));
        }
        if (known != null && command.weight() > state.capacity) {
            return Answer.of(Refusals.tooHeavy(command.weight(), state.capacity));
        }
        return isFull(state.parties()) ? Answers.full() : null;
    }

    /** Whether a state with this many parties may have no room for another one. */
    private boolean isFull(int present) {
        return present >= MANY && StateCodec.encode(state).length > maxBytes - StateCodec.MAX_CLAIM_BYTES;
    }

    /** The state of a claim, for the claimant. A grant is picked up by that. */
    private Answer present(ClaimEntry claim) {
        if (!claim.isHeld()) {
            return Answers.queued(moves, claim);
        }
        moves.pickUp(claim);
        return Answers.granted(moves, claim);
    }

    Answer poll(ClaimRef ref) {
        ClaimEntry claim = moves.claimOf(ref);
        return claim == null ? Answers.ABSENT : present(claim);
    }

    @Override
    public Answer withdraw(Command.Withdraw command) {
        ClaimEntry claim = moves.claimOf(command.claim());
        if (claim != null) {
            moves.drop(claim);
            moves.settle();
        }
        return Answers.DONE;
    }

    @Override
    public Answer release(Command.Release command) {
        ClaimEntry grant = moves.grantOf(command.claim());
        if (grant == null) {
            return Answers.ABSENT;
        }
        moves.drop(grant);
        moves.settle();
        return Answers.RELEASED;
    }

    @Override
    public Answer yieldFor(Command.Yield command) {
        Acquire next = command.next();
        Answer refusal = refusedFor(command.claim().session(), next.epoch());
        if (refusal != null) {
            return refusal;
        }
        ClaimEntry grant = moves.grantOf(command.claim());
        if (grant == null) {
            return acquire(next);
        }
        refusal = moves.isSpent(state.lastToken) ? Answer.of(Refusals.OUT_OF_TOKENS) : refused(next);
        if (refusal != null) {
            return refusal;
        }
        moves.drop(grant);
        moves.settle();
        return acquire(next);
    }

    @Override
    public Answer advance(Command.Advance command) {
        ClaimEntry grant = moves.grantOf(command.claim());
        if (grant == null) {
            return Answers.ABSENT;
        }
        boolean isNewest = moves.base() + grant.last == command.blockEnd();
        if (isNewest && !moves.reserve(grant, command.atLeast() - moves.base(), command.tokens())) {
            return Answer.of(new Reply.Unsupported("its fencing tokens are exhausted"));
        }
        return Answers.advanced(moves, grant);
    }

    @Override
    public Answer shrinkTo(Command.ShrinkTo command) {
        ClaimEntry grant = moves.grantOf(command.claim());
        if (grant == null) {
            return Answers.ABSENT;
        }
        grant.weight = Math.min(grant.weight, command.weight());
        moves.settle();
        return Answers.DONE;
    }

    @Override
    public Answer extend(Command.Extend command) {
        ClaimEntry grant = moves.grantOf(command.claim());
        if (grant == null || !grant.hasOwnLease()) {
            return Answers.ABSENT;
        }
        if (command.seq() > grant.extension) {
            grant.pickedUp = true;
            moves.extend(grant, command.seq(), command.lease());
        }
        return Answers.extended(moves, grant);
    }

    @Override
    public Answer setCount(Command.SetCount command) {
        Answer refusal = refusedFor(command.session(), command.epoch());
        if (refusal != null) {
            return refusal;
        }
        ResourceSpec known = state.declared;
        if (known != null && known.kind() != Kind.LATCH) {
            return Answer.of(Refusals.mismatch(known));
        }
        LatchState latch = state.latch;
        boolean isSet = latch != null && latch.remaining > 0;
        boolean isOld = latch != null && command.generation() <= latch.generation;
        if (!isSet && !isOld) {
            latch = latch == null ? new LatchState() : latch;
            latch.begin(command.generation(), command.count());
            state.latch = latch;
            state.declared = LATCH;
            state.capacity = 1;
        }
        return Answers.count(latch);
    }

    @Override
    public Answer countDown(Command.CountDown command) {
        ResourceSpec known = state.declared;
        if (known != null && known.kind() != Kind.LATCH) {
            return Answer.of(Refusals.mismatch(known));
        }
        LatchState latch = state.latch;
        if (latch != null && latch.generation == command.generation() && latch.remaining > 0) {
            if (isFull(latch.counted.size())) {
                return Answers.full();
            }
            latch.countDown(command.id(), command.n());
            moves.settle();
        }
        return Answers.count(latch);
    }

    @Override
    public Answer resize(Command.Resize command) {
        Answer refusal = refusedFor(command.session(), command.epoch());
        if (refusal != null) {
            return refusal;
        }
        ResourceSpec known = state.declared;
        if (known == null) {
            return Answers.ABSENT;
        }
        if (known.kind() != Kind.SEMAPHORE) {
            return Answer.of(Refusals.mismatch(known));
        }
        state.capacity = command.capacity();
        moves.expire(); // ends claims that wait for more
        return Answers.DONE;
    }

    @Override
    public Answer forceRelease(Command.ForceRelease command) {
        long token = command.token() - moves.base();
        for (ClaimEntry grant : List.copyOf(state.grants.values())) {
            if (grant.first <= token && token <= grant.last) {
                moves.notices.add(Notice.of(grant, Notice.Kind.REVOKED));
                moves.drop(grant);
                moves.settle();
                return Answers.RELEASED;
            }
        }
        return Answers.ABSENT;
    }

    // Commands on a session or on the whole store are not steps on a resource; annotations and runs are kept apart from
    // it.

    @Override
    public Answer poll(Command.Poll command) {
        throw notOnResource(command);
    }

    @Override
    public Answer openSession(Command.OpenSession command) {
        throw notOnResource(command);
    }

    @Override
    public Answer keepAlive(Command.KeepAlive command) {
        throw notOnResource(command);
    }

    @Override
    public Answer retire(Command.Retire command) {
        throw notOnResource(command);
    }

    @Override
    public Answer closeSession(Command.CloseSession command) {
        throw notOnResource(command);
    }

    @Override
    public Answer audit(Command.Audit command) {
        throw notOnResource(command);
    }

    @Override
    public Answer annotate(Command.Annotate command) {
        throw notOnResource(command);
    }

    @Override
    public Answer recordRun(Command.RecordRun command) {
        throw notOnResource(command);
    }

    @Override
    public Answer listRuns(Command.ListRuns command) {
        throw notOnResource(command);
    }

    @Override
    public Answer inspect(Command.Inspect command) {
        throw notOnResource(command);
    }

    private static IllegalArgumentException notOnResource(Command command) {
        return new IllegalArgumentException("Not a command on one resource: " + command);
    }
}
