package dev.holdfast.store.ledger;

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
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Refusals;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.LatchRow;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.RunRows;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Executes commands on the rows, inside a transaction that the caller begins and commits.
 *
 * <p>Each command is checked before it writes, so a rejected command changes nothing. The handler methods leave their
 * changes in the ledger; {@link #answer} flushes them.
 */
public final class LedgerExecutor implements CommandHandler<Reply, SQLException> {

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private final Ledger ledger;
    private final StoreContext context;
    private final ClaimReplies answers;
    private final LedgerReports reports;
    private final RunRows runs;

    public LedgerExecutor(Ledger ledger, StoreContext context) {
        this.ledger = ledger;
        this.context = context;
        this.answers = new ClaimReplies(ledger);
        this.reports = new LedgerReports(ledger, answers);
        this.runs = new RunRows(context.statements());
    }

    /** Whether a command usually changes nothing, so that it is worth running it read-only first. */
    public static boolean isQuery(Command command) {
        return command instanceof Poll
                || command instanceof Audit
                || command instanceof Inspect
                || command instanceof ListRuns;
    }

    /** Executes one command and writes its changes. */
    public Reply answer(Command command) throws SQLException {
        Reply reply = command.accept(this);
        ledger.flush();
        return reply;
    }

    // Sessions

    @Override
    public Reply openSession(OpenSession command) throws SQLException {
        SessionRow session = context.newcomer(command, ledger.now());
        ledger.sessions().add(session);
        return new Reply.SessionOpened(SessionRow.idOf(session.id), Micros.duration(session.ttl));
    }

    @Override
    public Reply keepAlive(KeepAlive command) throws SQLException {
        SessionRow session = ledger.live(command.session());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        session.epoch = command.epoch();
        session.deadline = ledger.now() + session.ttl;
        ledger.sessions().save(session);
        return new Reply.SessionAlive();
    }

    @Override
    public Reply retire(Retire command) throws SQLException {
        SessionRow session = ledger.live(command.session());
        if (session != null && session.epoch != SessionRow.RETIRED) {
            session.epoch = SessionRow.RETIRED;
            ledger.sessions().save(session);
        }
        return new Reply.Done();
    }

    @Override
    public Reply closeSession(CloseSession command) throws SQLException {
        SessionRow session = ledger.live(command.session());
        if (session != null) {
            ledger.end(session);
        }
        return new Reply.Done();
    }

    /** The reply to a command whose session has ended or has a higher epoch; null if neither. */
    private Reply.@Nullable ClaimReply staleReply(SessionId id, long epoch) throws SQLException {
        SessionRow session = ledger.live(id);
        if (session == null) {
            return new Reply.SessionEnded();
        }
        return epoch < session.epoch ? new Reply.Stale() : null;
    }

    @Override
    public Reply audit(Audit command) throws SQLException {
        return reports.audit(command);
    }

    // Claims

    @Override
    public Reply.ClaimReply acquire(Acquire command) throws SQLException {
        SessionRow session = ledger.live(command.claim().session());
        if (session == null) {
            return new Reply.SessionEnded();
        }
        if (command.epoch() < session.epoch) {
            return new Reply.Stale();
        }
        ClaimRow present = ledger.claim(command.claim());
        return present != null ? present(present) : make(session, command);
    }

    private Reply.ClaimReply make(SessionRow session, Acquire command) throws SQLException {
        ResourceRow resource = ledger.resource(command.resource());
        if (ledger.isInUse(resource)) {
            Reply.@Nullable Refused refused = refused(resource, command);
            if (refused != null) {
                return refused;
            }
        } else {
            ledger.declare(resource, command.spec());
        }
        if (ledger.admitsAtOnce(resource, command.weight())) {
            ClaimRow granted = ledger.admit(resource, session, command);
            return granted == null ? Refusals.OUT_OF_TOKENS : answers.stateOf(granted);
        }
        if (command.waiting() == Command.Waiting.TRY) {
            return reports.taken(resource);
        }
        return answers.stateOf(ledger.enqueue(resource, session, command));
    }

    /** Why the claim is impossible in the present state, whatever room there is; null if it is possible. */
    private static Reply.@Nullable Refused refused(ResourceRow known, Acquire command) {
        if (!known.declared.equals(command.spec())) {
            return Refusals.mismatch(known.declared);
        }
        if (command.weight() > known.capacity) {
            return Refusals.tooHeavy(command.weight(), known.capacity);
        }
        return null;
    }

    /** The state of a claim, for the claimant, who thereby picks up a grant. */
    private Reply.ClaimReply present(ClaimRow claim) throws SQLException {
        if (claim.isGranted) {
            ledger.pickUp(claim);
        }
        return answers.stateOf(claim);
    }

    @Override
    public Reply poll(Poll command) throws SQLException {
        List<Reply.ClaimReply> states = new ArrayList<>(command.claims().size());
        for (ClaimRef ref : command.claims()) {
            ClaimRow claim = ledger.claim(ref);
            states.add(claim == null ? new Reply.Absent() : present(claim));
        }
        return new Reply.Polled(states);
    }

    @Override
    public Reply withdraw(Withdraw command) throws SQLException {
        ClaimRow claim = ledger.claim(command.claim());
        if (claim != null) {
            ledger.drop(claim);
        }
        return new Reply.Done();
    }

    @Override
    public Reply release(Release command) throws SQLException {
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        if (command.isAnnotated()) {
            ledger.dropAnnotation(grant);
        }
        ledger.drop(grant);
        return new Reply.Released();
    }

    @Override
    public Reply yieldFor(Yield command) throws SQLException {
        Acquire next = command.next();
        Reply.@Nullable ClaimReply stale = staleReply(command.claim().session(), next.epoch());
        if (stale != null) {
            return stale;
        }
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null) {
            return acquire(next);
        }
        Reply.@Nullable Refused refused =
                ledger.tokens().isSpent(grant.resource) ? Refusals.OUT_OF_TOKENS : refused(grant.resource, next);
        if (refused != null) {
            return refused;
        }
        if (command.isAnnotated()) {
            ledger.dropAnnotation(grant);
        }
        ledger.drop(grant);
        ledger.settle(grant.resource);
        return acquire(next);
    }

    @Override
    public Reply advance(Advance command) throws SQLException {
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        if (grant.endToken == command.blockEnd()) {
            TokenBlock fresh = ledger.tokens().reserve(grant.resource, command.atLeast(), command.tokens());
            if (fresh == null) {
                return new Reply.Unsupported("its fencing tokens are exhausted");
            }
            grant.firstToken = fresh.first();
            grant.endToken = fresh.last();
            ledger.claims().save(grant);
        }
        return new Reply.Advanced(grant.tokens(), grant.resource.waiters > 0);
    }

    @Override
    public Reply shrinkTo(ShrinkTo command) throws SQLException {
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        ledger.lighten(grant, command.weight());
        return new Reply.Done();
    }

    @Override
    public Reply extend(Extend command) throws SQLException {
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null || !grant.hasOwnLease()) {
            return new Reply.Absent();
        }
        boolean begins = grant.pickUp(ledger.now());
        boolean acts = command.seq() > grant.seq;
        if (acts) {
            grant.seq = command.seq();
            grant.ends = ledger.now() + Micros.of(command.lease());
        }
        if (begins || acts) {
            ledger.claims().save(grant);
        }
        return new Reply.Extended(grant.seq, Micros.duration(grant.ends - ledger.now()));
    }

    /** Why annotations and runs are not supported; empty if they are. */
    private String limitation() {
        return context.statements().templates().limitation();
    }

    @Override
    public Reply annotate(Annotate command) throws SQLException {
        if (!limitation().isEmpty()) {
            return new Reply.Unsupported(limitation());
        }
        ClaimRow grant = ledger.grant(command.claim());
        if (grant == null) {
            return new Reply.Absent();
        }
        ledger.annotate(grant, command.seq(), command.text());
        return new Reply.Done();
    }

    // Resources

    @Override
    public Reply setCount(SetCount command) throws SQLException {
        Reply.@Nullable ClaimReply stale = staleReply(command.session(), command.epoch());
        if (stale != null) {
            return stale;
        }
        ResourceRow resource = ledger.resource(command.resource());
        ledger.declare(resource, LATCH);
        if (resource.declared.kind() != Kind.LATCH) {
            return Refusals.mismatch(resource.declared);
        }
        LatchRow latch = ledger.latches().find(resource);
        if (latch.remaining == 0 && command.generation() > latch.generation) {
            ledger.mustWrite();
            latch.generation = command.generation();
            latch.remaining = command.count();
            ledger.save(resource, latch);
            resource.isDirty = true;
        }
        return new Reply.Count(latch.generation, latch.remaining);
    }

    @Override
    public Reply countDown(CountDown command) throws SQLException {
        ResourceRow resource = ledger.resource(command.resource());
        if (resource.declared.kind() != Kind.LATCH && ledger.isInUse(resource)) {
            return Refusals.mismatch(resource.declared);
        }
        LatchRow latch = ledger.latches().find(resource);
        if (latch.generation == command.generation() && latch.remaining > 0) {
            ledger.mustWrite();
            if (ledger.latches().addCounted(resource, command.id())) {
                latch.remaining = Math.max(0, latch.remaining - command.n());
                ledger.save(resource, latch);
            }
            if (latch.remaining == 0) {
                // An open latch no longer counts, so the ids that have counted are not needed.
                ledger.latches().dropCounted(resource);
                ledger.settle(resource);
            }
        }
        return new Reply.Count(latch.generation, latch.remaining);
    }

    @Override
    public Reply resize(Resize command) throws SQLException {
        Reply.@Nullable ClaimReply stale = staleReply(command.session(), command.epoch());
        if (stale != null) {
            return stale;
        }
        ResourceRow resource = ledger.resource(command.resource());
        if (!ledger.isInUse(resource)) {
            return new Reply.Absent();
        }
        if (resource.declared.kind() != Kind.SEMAPHORE) {
            return Refusals.mismatch(resource.declared);
        }
        ledger.mustWrite();
        resource.capacity = command.capacity();
        resource.isDirty = true;
        for (ClaimRow waiter : ledger.claimRows().waitersAbove(resource, resource.capacity)) {
            ledger.refuse(waiter);
        }
        ledger.settle(resource);
        return new Reply.Done();
    }

    @Override
    public Reply forceRelease(ForceRelease command) throws SQLException {
        ResourceRow resource = ledger.resource(command.resource());
        ClaimRow grant = grantOf(resource, command.token());
        if (grant == null || ledger.grant(grant.ref()) == null) {
            return new Reply.Absent();
        }
        ledger.revoke(grant);
        return new Reply.Released();
    }

    @Override
    public Reply recordRun(RecordRun command) throws SQLException {
        if (!limitation().isEmpty()) {
            return new Reply.Unsupported(limitation());
        }
        ledger.mustWrite();
        runs.save(command);
        return new Reply.Done();
    }

    @Override
    public Reply listRuns(ListRuns command) throws SQLException {
        if (!limitation().isEmpty()) {
            // Not as unsupported, which readers would take for a task that has never run.
            throw new StoreException(StoreException.Reason.DENIED, StoreException.Effect.NONE, limitation(), null);
        }
        return new Reply.Runs(runs.newest(command.resource()));
    }

    @Override
    public Reply inspect(Inspect command) throws SQLException {
        return reports.inspect(command);
    }

    private @Nullable ClaimRow grantOf(ResourceRow resource, long token) throws SQLException {
        boolean isInline = resource.hasInlineGrant() && resource.firstToken <= token && token <= resource.endToken;
        return isInline ? ClaimRow.inline(resource) : ledger.claimRows().grant(resource, token);
    }
}
