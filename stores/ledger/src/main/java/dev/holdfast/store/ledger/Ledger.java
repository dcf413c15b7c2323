package dev.holdfast.store.ledger;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.ledger.table.AnnotationRows;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.LatchRow;
import dev.holdfast.store.ledger.table.LatchRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of the store in one transaction, and the few operations that change it. {@link LedgerExecutor} defines
 * what each command means.
 *
 * <p>Dead claims are dropped lazily, when their resource is read: a resource that this class returns has no dead holder
 * that blocks others, and the head of its queue is alive and does not fit.
 *
 * <p>It is one class because each operation may trigger others: the end of a session drops claims, which admits other
 * claims, whose sessions may have expired. {@link SessionCache}, {@link ResourceCache}, {@link Claims} and {@link
 * TokenCounters} know which rows that changes.
 *
 * <p>Not thread-safe.
 */
public final class Ledger {

    private final Rows rows;
    private final WriteBatch writes;
    private final ClaimRows claimRows;
    private final LatchRows latches;
    private final AnnotationRows annotations;
    private final StoreContext context;
    private final LedgerTransaction transaction;
    private final SessionCache sessions;
    private final ResourceCache resources;
    private final Claims claims;
    private final TokenCounters tokens;
    private final CountRepair countRepair;

    /** Resources that changed in a way that may admit more claims. */
    private final ArrayDeque<ResourceRow> unsettled = new ArrayDeque<>();

    public Ledger(StoreContext context) {
        this.rows = new Rows(context.statements());
        this.writes = new WriteBatch(context.statements(), context.joins());
        this.latches = new LatchRows(context.statements());
        this.annotations = new AnnotationRows(context.statements());
        this.context = context;
        this.transaction = new LedgerTransaction(context.clock());
        this.sessions = new SessionCache(transaction, rows, context);
        this.claimRows = context.isAlone()
                ? new ClaimRows(context.statements())
                : new BufferedClaimRows(context.statements(), sessions, writes);
        this.resources = new ResourceCache(transaction, rows, context.isAlone(), writes);
        this.claims = new Claims(transaction, claimRows, context);
        this.tokens = new TokenCounters(transaction, context);
        this.countRepair = new CountRepair(transaction);
    }

    /** Forgets everything, for a new transaction that holds the row locks it needs. */
    public void begin(boolean writing) {
        sessions.forgetAll();
        resources.forgetAll();
        claimRows.begin();
        writes.forgetAll();
        unsettled.clear();
        transaction.begin(writing);
    }

    /** Ends a command: its changes are written now, or by {@link #finish()} at the latest. */
    public void flush() throws SQLException {
        settleAll();
        resources.endStep();
    }

    /** Gathers all pending writes. The caller then calls {@link WriteBatch#send()} and commits. */
    public WriteBatch finish() throws SQLException {
        claimRows.gather();
        resources.save();
        return writes;
    }

    public ResourceCache resources() {
        return resources;
    }

    /** The notifications to deliver after the commit. */
    public List<LedgerTransaction.Notification> notifications() {
        return transaction.notifications();
    }

    public long now() {
        return transaction.now();
    }

    public StoreContext context() {
        return context;
    }

    public Rows rows() {
        return rows;
    }

    public SessionCache sessions() {
        return sessions;
    }

    public Claims claims() {
        return claims;
    }

    public ClaimRows claimRows() {
        return claimRows;
    }

    public TokenCounters tokens() {
        return tokens;
    }

    public LatchRows latches() {
        return latches;
    }

    public AnnotationRows annotations() {
        return annotations;
    }

    void mustWrite() {
        transaction.mustWrite();
    }

    // Sessions

    @Nullable
    public SessionRow live(SessionId id) throws SQLException {
        return live(SessionRow.numberOf(id));
    }

    /** The session if it is alive; null otherwise. Ends a session that has expired. */
    @Nullable
    public SessionRow live(long id) throws SQLException {
        SessionRow session = sessions.known(id);
        if (session == null || session.hasEnded()) {
            return null;
        }
        if (!sessions.isOver(session)) {
            return session;
        }
        if (context.isAlone()) {
            end(session);
            return null;
        }
        return expire(session) ? null : session;
    }

    /**
     * Ends only the session's row. Its claims on locked resources are dropped when those are read, which the caller is
     * about to do; the others when a transaction locks their resources.
     */
    private boolean expire(SessionRow session) throws SQLException {
        mustWrite();
        if (!context.expire(session)) {
            session.isWitnessed = true;
            return false;
        }
        session.epoch = SessionRow.RETIRED;
        session.deadline = 0;
        transaction.addNotification(session.client, new Signal.SessionEnded(SessionRow.idOf(session.id)));
        return true;
    }

    /**
     * Ends a session with all its claims. Detached grants that were picked up stay, and with them the session's row.
     */
    public void end(SessionRow session) throws SQLException {
        mustWrite();
        boolean isNeeded = false;
        session.epoch = SessionRow.RETIRED;
        session.deadline = 0;
        for (ClaimRows.Place place : claimRows.ofSession(session.id, 0, ClaimRows.NO_KEY, Integer.MAX_VALUE)) {
            ResourceRow resource = resources.load(place.name());
            if (resource.places == 0) {
                claims.dropUncounted(resource);
            } else if (place.claim().outlivesSession()) {
                isNeeded = true;
            } else {
                drop(place.claim().on(resource));
            }
        }
        for (ResourceName name : rows.contended(session.id)) {
            ResourceRow resource = resources.load(name);
            if (resource.session == session.id) {
                claims.clearInline(resource);
            }
            unsettled.add(resource);
        }
        if (isNeeded) {
            sessions.save(session);
        } else {
            sessions.drop(session);
        }
        transaction.addNotification(session.client, new Signal.SessionEnded(SessionRow.idOf(session.id)));
    }

    // Resources

    /** The resource without its dead claims; a new one without a row if it was never used. */
    public ResourceRow resource(ResourceName name) throws SQLException {
        ResourceRow resource = resources.load(name);
        if (resource.hasInlineGrant()
                && (live(resource.session) == null || ClaimRow.inline(resource).isOver(now()))) {
            // Ending a session does not clear a grant that has no waiters.
            if (resource.hasInlineGrant()) {
                claims.clearInline(resource);
            }
        }
        if (resource.waiters > 0 && !resource.isSettled) {
            unsettled.add(resource);
        }
        settleAll();
        return resource;
    }

    /** Declares a resource again if it is not in use. */
    void declare(ResourceRow resource, ResourceSpec spec) throws SQLException {
        if (!isInUse(resource) && (!resource.declared.equals(spec) || resource.capacity != spec.capacity())) {
            mustWrite();
            resource.declared = spec;
            resource.capacity = spec.capacity();
            resource.isDirty = true;
        }
    }

    /** Drops the rows of a resource that is not in use. */
    public void forget(ResourceRow resource) throws SQLException {
        resources.drop(resource);
        latches.drop(resource);
    }

    public boolean isInUse(ResourceRow resource) throws SQLException {
        if (resource.hasInlineGrant() || resource.waiters > 0) {
            return true;
        }
        if (resource.grants > 0) {
            sweep(resource);
        }
        return resource.grants > 0 || latches.isCounting(resource);
    }

    /** Whether there is room, ignoring the queue. */
    public boolean fits(ResourceRow resource, int weight) throws SQLException {
        if (resource.declared.kind() == Kind.LATCH) {
            return !latches.isCounting(resource);
        }
        if (resource.grantedWeight() + weight > resource.capacity && resource.grants > 0) {
            sweep(resource);
        }
        return resource.grantedWeight() + weight <= resource.capacity;
    }

    /** Whether a new claim is granted at once. */
    boolean admitsAtOnce(ResourceRow resource, int weight) throws SQLException {
        return (resource.waiters == 0 || resource.declared.order() == Order.BARGING) && fits(resource, weight);
    }

    /** Drops dead grants that have their own rows, and corrects the counts. */
    private void sweep(ResourceRow resource) throws SQLException {
        if (resource.isSwept) {
            return;
        }
        resource.isSwept = true;
        for (ClaimRow over : claimRows.grantsOver(resource, now())) {
            drop(over);
        }
        List<ClaimRows.SessionGrants> all = claimRows.grantedSessions(resource);
        countRepair.grants(
                resource,
                all.stream().mapToLong(ClaimRows.SessionGrants::grants).sum(),
                all.stream().mapToLong(ClaimRows.SessionGrants::weight).sum());
        for (ClaimRows.SessionGrants holder : all) {
            if (live(holder.session()) == null) {
                for (ClaimRow left : claimRows.grantsOf(resource, holder.session())) {
                    if (!left.outlivesSession()) {
                        drop(left);
                    }
                }
            }
        }
    }

    /** The grants that have their own rows, oldest first. */
    List<ClaimRow> liveGrants(ResourceRow resource) throws SQLException {
        sweep(resource);
        return claimRows.grants(resource, Integer.MAX_VALUE);
    }

    /** The live waiters, head first, up to a limit. */
    List<ClaimRow> liveWaiters(ResourceRow resource, int limit) throws SQLException {
        for (ClaimRow waiter : claimRows.waiters(resource, limit)) {
            if (live(waiter.session) == null) {
                dropOrphan(waiter);
            }
        }
        settleAll();
        return claimRows.waiters(resource, limit);
    }

    /** Grants claims from the head of the queue while they fit. */
    public void settle(ResourceRow resource) throws SQLException {
        unsettled.add(resource);
        settleAll();
    }

    // A loop, not recursion: each session that ends may add more resources.
    private void settleAll() throws SQLException {
        for (ResourceRow next = unsettled.poll(); next != null; next = unsettled.poll()) {
            admitFromHead(next);
        }
    }

    private void admitFromHead(ResourceRow resource) throws SQLException {
        List<ClaimRow> admitted = List.of();
        while (resource.waiters > 0) {
            ClaimRow head = claimRows.head(resource);
            if (head == null) {
                countRepair.noWaiters(resource);
                break;
            }
            SessionRow session = live(head.session);
            if (session == null) {
                dropOrphan(head);
            } else if (fits(resource, head.weight)) {
                if (grant(head)) {
                    admitted = admitted.isEmpty() ? new ArrayList<>() : admitted;
                    admitted.add(head);
                } else {
                    transaction.addNotification(session.client, new Signal.Changed(head.ref()));
                }
            } else {
                break;
            }
        }
        resource.isSettled = true;
        for (ClaimRow claim : admitted) {
            notifyGranted(claim);
        }
    }

    /** The session's end has already dropped the claim, unless the session's row was deleted by hand. */
    private void dropOrphan(ClaimRow waiter) throws SQLException {
        ClaimRow orphan = claimRows.find(waiter.resource, waiter.session, waiter.number);
        if (orphan != null) {
            drop(orphan);
        }
    }

    private void notifyGranted(ClaimRow claim) throws SQLException {
        SessionRow session = sessions.known(claim.session);
        if (session != null) {
            transaction.addNotification(
                    session.client,
                    claim.hasOwnLease()
                            ? new Signal.Changed(claim.ref())
                            : new Signal.Granted(claim.ref(), ClaimReplies.granted(claim, now())));
        }
    }

    // Claims

    /** The claim if it is alive; null otherwise. */
    @Nullable
    public ClaimRow claim(ClaimRef ref) throws SQLException {
        ResourceRow resource = resource(ref.resource());
        long session = SessionRow.numberOf(ref.session());
        boolean isKeptApart = resource.grants > 0 || resource.waiters > 0;
        // First, because this may end the session and the claim with it.
        boolean isLive = isKeptApart && live(session) != null;
        ClaimRow claim = claims.find(resource, session, ref.claim());
        if (claim != null && !claim.isInline() && (claim.isOver(now()) || (!isLive && !claim.outlivesSession()))) {
            drop(claim);
            settle(resource);
            return null;
        }
        return claim;
    }

    /** The grant if it is alive; null otherwise. */
    @Nullable
    public ClaimRow grant(ClaimRef ref) throws SQLException {
        ClaimRow claim = claim(ref);
        return claim != null && claim.isGranted ? claim : null;
    }

    ClaimRow enqueue(ResourceRow resource, SessionRow session, Acquire request) throws SQLException {
        ClaimRow claim = ClaimRow.of(resource, session.id, request);
        claims.enqueue(claim);
        return claim;
    }

    /** Adds a claim that is granted and picked up; null, with nothing changed, if the token counter is exhausted. */
    @Nullable
    ClaimRow admit(ResourceRow resource, SessionRow session, Acquire request) throws SQLException {
        mustWrite();
        ClaimRow claim = ClaimRow.of(resource, session.id, request);
        if (tokens.isSpent(resource)) {
            return null;
        }
        boolean begins = claim.pickUp(now());
        assert begins == claim.hasOwnLease();
        return grant(claim) ? claim : null;
    }

    /**
     * Grants a claim, new or from the head of the queue; false, with the claim dropped, if the token counter is
     * exhausted.
     */
    private boolean grant(ClaimRow claim) throws SQLException {
        if (claim.place > 0) {
            claims.dequeue(claim);
        }
        TokenBlock block = tokens.reserve(claim.resource, 0, claim.wanted);
        if (block == null) {
            return false;
        }
        claim.isGranted = true;
        claim.firstToken = block.first();
        claim.endToken = block.last();
        claims.addGrant(claim);
        return true;
    }

    /** Saves a changed latch. */
    public void save(ResourceRow resource, LatchRow latch) throws SQLException {
        mustWrite();
        latches.save(resource, latch, transaction.unix());
        context.mustLast();
    }

    /** Starts the grant's own lease, if it has one and the claimant learns of the grant for the first time. */
    public void pickUp(ClaimRow grant) throws SQLException {
        if (grant.pickUp(now())) {
            claims.save(grant);
        }
    }

    /** Replaces the annotation of a grant, unless a later one did. */
    void annotate(ClaimRow grant, long seq, String text) throws SQLException {
        Long last = annotations.seq(grant);
        if (last == null || last < seq) {
            mustWrite();
            annotations.save(grant, seq, text, last == null);
        }
    }

    /** Drops the annotation of a grant. */
    void dropAnnotation(ClaimRow grant) throws SQLException {
        mustWrite();
        annotations.drop(grant);
    }

    /** Removes a claim in any state. */
    public void drop(ClaimRow claim) throws SQLException {
        claims.remove(claim);
        unsettled.add(claim.resource);
    }

    /** Lowers the weight of a grant. */
    void lighten(ClaimRow grant, int weight) throws SQLException {
        if (grant.weight > weight) {
            claims.weigh(grant, weight);
            settle(grant.resource);
        }
    }

    /** Ends a claim and notifies its session of the change. */
    public void refuse(ClaimRow waiter) throws SQLException {
        SessionRow session = sessions.known(waiter.session);
        drop(waiter);
        if (session != null) {
            transaction.addNotification(session.client, new Signal.Changed(waiter.ref()));
        }
    }

    /** Revokes a grant and notifies its session. */
    void revoke(ClaimRow grant) throws SQLException {
        SessionRow session = sessions.known(grant.session);
        if (session != null) {
            transaction.addNotification(session.client, new Signal.Revoked(grant.ref()));
        }
        dropAnnotation(grant);
        drop(grant);
        settle(grant.resource);
    }
}
