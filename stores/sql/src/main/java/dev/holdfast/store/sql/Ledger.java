package dev.holdfast.store.sql;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.Tokens;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of the store in one transaction, with the few moves that change it. What a command means is told in {@link Steps}.
 *
 * <p>What is dead is dropped when somebody looks at it, not before: a resource that this class hands out has no dead holder in its way, and its queue has a
 * live head that does not fit.
 *
 * <p>It is one class because each move may set off others: the end of a session drops claims, which admits others, whose sessions may be over.
 *
 * <p>Not thread-safe.
 */
final class Ledger {

    /** Thrown where a look finds something to write: the command is then carried out in a transaction that may. */
    static final class Due extends RuntimeException {
        private static final long serialVersionUID = 1L;

        // Without a stack trace, which would cost more than the look.
        private Due() {
            super("there is something to write", null, false, false);
        }
    }

    /** A signal, and the store instance that it is for. */
    record Told(long client, Signal signal) {}

    private final Rows rows;
    private final ClaimRows claims;
    private final LatchRows latches;
    private final Dialect dialect;

    private final Map<Long, Optional<Session>> sessions = new HashMap<>();
    private final Map<ResourceName, Resource> resources = new HashMap<>();
    private final ArrayDeque<Resource> unsettled = new ArrayDeque<>();
    private final List<Told> told = new ArrayList<>();
    private boolean mayWrite;
    private long now;
    private long unix;

    Ledger(Dialect dialect) {
        this.rows = new Rows(dialect.statements());
        this.claims = new ClaimRows(dialect.statements());
        this.latches = new LatchRows(dialect.statements());
        this.dialect = dialect;
    }

    /** Forgets everything, for a new transaction that has what locks it needs. */
    void begin(boolean writing) {
        sessions.clear();
        resources.clear();
        unsettled.clear();
        told.clear();
        now = dialect.clock().nowMicros();
        unix = dialect.clock().unixMicros();
        mayWrite = writing;
    }

    /** Writes what the command that ends here has changed. */
    void flush() throws SQLException {
        settleAll();
        for (Resource resource : resources.values()) {
            if (resource.isDirty) {
                mustWrite();
                rows.save(resource);
            }
        }
        resources.clear();
    }

    /** What is to be told once this is committed. */
    List<Told> told() {
        return List.copyOf(told);
    }

    long now() {
        return now;
    }

    Rows rows() {
        return rows;
    }

    ClaimRows claims() {
        return claims;
    }

    LatchRows latches() {
        return latches;
    }

    void mustWrite() {
        if (!mayWrite) {
            throw new Due();
        }
    }

    private void tell(long client, Signal signal) {
        told.add(new Told(client, signal));
    }

    // Sessions

    void add(Session session) throws SQLException {
        mustWrite();
        rows.add(session);
        sessions.put(session.id, Optional.of(session));
    }

    void save(Session session) throws SQLException {
        mustWrite();
        rows.save(session);
    }

    @Nullable
    Session live(SessionId id) throws SQLException {
        return live(Session.numberOf(id));
    }

    /** A session that lives. One that should not any more is ended by this look. */
    @Nullable
    Session live(long id) throws SQLException {
        Session session = known(id);
        if (session == null || session.hasEnded()) {
            return null;
        }
        if (!session.isWitnessed) {
            if (session.deadline <= now || (session.client != dialect.client() && dialect.isGone(session.client))) {
                end(session);
                return null;
            }
            session.isWitnessed = true;
        }
        return session;
    }

    /** A session that lives, or whose row is kept for its detached grants. */
    @Nullable
    Session known(long id) throws SQLException {
        Optional<Session> known = sessions.get(id);
        if (known == null) {
            known = Optional.ofNullable(rows.session(id));
            sessions.put(id, known);
        }
        return known.orElse(null);
    }

    /** Ends a session with all that it holds and waits for; detached grants that were picked up stay, and so does its row for them. */
    void end(Session session) throws SQLException {
        mustWrite();
        boolean isNeeded = false;
        session.epoch = Session.RETIRED;
        session.deadline = 0;
        for (ClaimRows.Place place : claims.ofSession(session.id, 0, ClaimRows.NO_KEY, Integer.MAX_VALUE)) {
            if (place.claim().outlivesSession()) {
                isNeeded = true;
            } else {
                drop(rebased(place.claim(), load(place.name())));
            }
        }
        for (ResourceName name : rows.contended(session.id)) {
            Resource resource = load(name);
            if (resource.session == session.id) {
                resource.clearInlineGrant();
            }
            unsettled.add(resource);
        }
        if (isNeeded) {
            rows.save(session);
        } else {
            forget(session);
        }
        tell(session.client, new Signal.SessionEnded(Session.idOf(session.id)));
    }

    /** Drops the row of a session that has ended. */
    void forget(Session session) throws SQLException {
        mustWrite();
        rows.drop(session);
        sessions.put(session.id, Optional.empty());
        dialect.forgotten(session);
    }

    private static Claim rebased(Claim claim, Resource resource) {
        Claim same = new Claim(resource, claim.session, claim.number, claim.binding, claim.wanted);
        same.place = claim.place;
        same.isGranted = claim.isGranted;
        same.weight = claim.weight;
        same.ends = claim.ends;
        return same;
    }

    // Resources

    /** The resource as it is, without its dead: one without a row if nobody ever used it. */
    Resource resource(ResourceName name) throws SQLException {
        Resource resource = load(name);
        if (resource.hasInlineGrant()
                && (live(resource.session) == null || Claim.inline(resource).isOver(now))) {
            // The end of a session leaves alone what nobody waits for.
            if (resource.hasInlineGrant()) {
                mustWrite();
                resource.clearInlineGrant();
            }
        }
        if (resource.waiters > 0 && !resource.isSettled) {
            unsettled.add(resource);
        }
        settleAll();
        return resource;
    }

    private Resource load(ResourceName name) throws SQLException {
        Resource known = resources.get(name);
        if (known != null) {
            return known;
        }
        Resource resource = rows.resource(name);
        if (resource == null) {
            resource = new Resource(name, name.utf8());
            resource.lastToken = rows.floor();
        }
        resources.put(name, resource);
        return resource;
    }

    /** Declares a resource that nobody uses anew. */
    void declare(Resource resource, ResourceSpec spec) throws SQLException {
        if (!isInUse(resource) && (!resource.declared.equals(spec) || resource.capacity != spec.capacity())) {
            mustWrite();
            resource.declared = spec;
            resource.capacity = spec.capacity();
            resource.isDirty = true;
        }
    }

    /** Drops the row of a resource that nobody uses, and nobody has used since a moment by the wall clock. */
    void dropIfResting(ResourceName name, long sinceUnixMicros) throws SQLException {
        Resource resource = resource(name);
        if (!isInUse(resource)
                && resource.lastToken < Tokens.floor(Math.max(0, sinceUnixMicros))
                && latches.find(resource).changed < sinceUnixMicros) {
            mustWrite();
            latches.drop(resource);
            rows.drop(resource);
            resources.remove(name);
        }
    }

    boolean isInUse(Resource resource) throws SQLException {
        if (resource.hasInlineGrant() || resource.waiters > 0) {
            return true;
        }
        if (resource.grants > 0) {
            sweep(resource);
        }
        return resource.grants > 0 || isCounting(resource);
    }

    /** Whether there is room, leaving the queue aside. */
    boolean fits(Resource resource, int weight) throws SQLException {
        if (resource.declared.kind() == Kind.LATCH) {
            return !isCounting(resource);
        }
        if (resource.held() + weight > resource.capacity && resource.grants > 0) {
            sweep(resource);
        }
        return resource.held() + weight <= resource.capacity;
    }

    /** Whether a claim that comes now is admitted. */
    boolean admitsAtOnce(Resource resource, int weight) throws SQLException {
        return (resource.waiters == 0 || resource.declared.order() == Order.BARGING) && fits(resource, weight);
    }

    boolean isCounting(Resource resource) throws SQLException {
        return resource.declared.kind() == Kind.LATCH && latches.find(resource).remaining > 0;
    }

    /** Drops the dead among the grants that have rows of their own. */
    private void sweep(Resource resource) throws SQLException {
        if (resource.isSwept) {
            return;
        }
        resource.isSwept = true;
        for (Claim over : claims.grantsOver(resource, now)) {
            drop(over);
        }
        for (long session : claims.grantedSessions(resource)) {
            if (live(session) == null) {
                for (Claim left : claims.grantsOf(resource, session)) {
                    if (!left.outlivesSession()) {
                        drop(left);
                    }
                }
            }
        }
    }

    /** The grants that have rows of their own, oldest first. */
    List<Claim> liveGrants(Resource resource) throws SQLException {
        sweep(resource);
        return claims.grants(resource, Integer.MAX_VALUE);
    }

    /** Those that wait, head first, up to a limit. */
    List<Claim> liveWaiters(Resource resource, int limit) throws SQLException {
        for (Claim waiter : claims.waiters(resource, limit)) {
            if (live(waiter.session) == null) {
                dropOrphan(waiter);
            }
        }
        settleAll();
        return claims.waiters(resource, limit);
    }

    /** Admits from the head of the queue who can go on. */
    void settle(Resource resource) throws SQLException {
        unsettled.add(resource);
        settleAll();
    }

    // One after another and not one within another: each end of a session may unsettle more.
    private void settleAll() throws SQLException {
        for (Resource next = unsettled.poll(); next != null; next = unsettled.poll()) {
            admitFromHead(next);
        }
    }

    private void admitFromHead(Resource resource) throws SQLException {
        List<Claim> admitted = List.of();
        while (resource.waiters > 0) {
            Claim head = claims.head(resource);
            if (head == null) {
                throw Statements.damaged(
                        resource.name, "it counts " + resource.waiters + " waiters, and there is none");
            }
            Session session = live(head.session);
            if (session == null) {
                dropOrphan(head);
            } else if (fits(resource, head.weight)) {
                if (grant(head)) {
                    admitted = admitted.isEmpty() ? new ArrayList<>() : admitted;
                    admitted.add(head);
                } else {
                    tell(session.client, new Signal.Changed(head.ref()));
                }
            } else {
                break;
            }
        }
        resource.isSettled = true;
        for (Claim claim : admitted) {
            tellGranted(claim);
        }
    }

    /** Gone by now with its session, unless somebody has deleted that by hand. */
    private void dropOrphan(Claim waiter) throws SQLException {
        Claim orphan = claims.find(waiter.resource, waiter.session, waiter.number);
        if (orphan != null) {
            drop(orphan);
        }
    }

    private void tellGranted(Claim claim) throws SQLException {
        Session session = known(claim.session);
        if (session != null) {
            tell(
                    session.client,
                    claim.hasOwnLease()
                            ? new Signal.Changed(claim.ref())
                            : new Signal.Granted(claim.ref(), Answers.granted(claim, now)));
        }
    }

    // Claims

    /** A claim that lives; null if there is none. */
    @Nullable
    Claim claim(ClaimRef ref) throws SQLException {
        Resource resource = resource(ref.resource());
        long session = Session.numberOf(ref.session());
        if (resource.session == session && resource.claim == ref.claim() && session != 0) {
            return Claim.inline(resource);
        }
        if (resource.grants == 0 && resource.waiters == 0) {
            return null;
        }
        boolean isLive = live(session) != null;
        Claim claim = claims.find(resource, session, ref.claim());
        if (claim != null && (claim.isOver(now) || (!isLive && !claim.outlivesSession()))) {
            drop(claim);
            settle(resource);
            return null;
        }
        return claim;
    }

    /** A grant that lives; null if there is none. */
    @Nullable
    Claim grant(ClaimRef ref) throws SQLException {
        Claim claim = claim(ref);
        return claim != null && claim.isGranted ? claim : null;
    }

    Claim enqueue(Resource resource, Session session, Acquire request) throws SQLException {
        mustWrite();
        Claim claim = Claim.of(resource, session.id, request);
        claim.place = ++resource.places;
        claims.add(claim);
        resource.waiters++;
        resource.isDirty = true;
        return claim;
    }

    /** Makes a claim and grants it, picked up; null, and nothing was changed, if the token counter is spent. */
    @Nullable
    Claim admit(Resource resource, Session session, Acquire request) throws SQLException {
        mustWrite();
        Claim claim = Claim.of(resource, session.id, request);
        if (isSpent(resource.lastToken)) {
            return null;
        }
        boolean begins = claim.pickUp(now);
        assert begins == claim.hasOwnLease();
        return grant(claim) ? claim : null;
    }

    /** Grants a claim, new or from the head of the queue; false, and it is gone, if the token counter is spent. */
    private boolean grant(Claim claim) throws SQLException {
        mustWrite();
        Resource resource = claim.resource;
        if (claim.place > 0) {
            claims.drop(claim);
            resource.waiters--;
            resource.isDirty = true;
        }
        TokenBlock block = reserve(resource, 0, claim.wanted);
        if (block == null) {
            return false;
        }
        claim.isGranted = true;
        claim.firstToken = block.first();
        claim.endToken = block.last();
        if (resource.hasInlineGrant() || resource.grants > 0 || claim.binding == Binding.DETACHED) {
            claim.place = ++resource.places;
            claims.add(claim);
            resource.grants++;
            resource.shared += claim.weight;
            lastIfDetached(claim);
        } else {
            claim.place = 0;
            resource.session = claim.session;
            resource.claim = claim.number;
            setInline(claim);
        }
        return true;
    }

    /** Keeps what was changed in a grant. */
    void save(Claim grant) throws SQLException {
        mustWrite();
        if (grant.isInline()) {
            setInline(grant);
        } else {
            claims.save(grant);
            lastIfDetached(grant);
        }
    }

    private void lastIfDetached(Claim grant) throws SQLException {
        if (grant.outlivesSession()) {
            dialect.mustLast();
        }
    }

    /** Keeps what was changed in a latch. */
    void save(Resource resource, Latch latch) throws SQLException {
        mustWrite();
        latches.save(resource, latch, unix);
        dialect.mustLast();
    }

    private static void setInline(Claim grant) {
        Resource resource = grant.resource;
        resource.weight = grant.weight;
        resource.firstToken = grant.firstToken;
        resource.endToken = grant.endToken;
        resource.ends = grant.ends;
        resource.seq = grant.seq;
        resource.isDirty = true;
    }

    /** Reserves the next tokens of a resource, above {@code atLeast}; null if its counter is spent. */
    @Nullable
    TokenBlock reserve(Resource resource, long atLeast, int want) throws SQLException {
        mustWrite();
        long last = Math.max(Math.max(resource.lastToken, dialect.tokenFloor()), atLeast);
        if (isSpent(last)) {
            return null;
        }
        TokenBlock block = Tokens.next(last, unix, want);
        resource.lastToken = block.last();
        resource.isDirty = true;
        dialect.reserved(block.last());
        return block;
    }

    boolean isSpent(long lastToken) {
        return lastToken >= Tokens.MAX_TOKEN || Tokens.floor(unix) > Tokens.MAX_TOKEN;
    }

    /** The claimant hears of its grant: a lease of its own begins, once. */
    void pickUp(Claim grant) throws SQLException {
        if (grant.pickUp(now)) {
            save(grant);
        }
    }

    /** Takes a claim out, whatever its state. */
    void drop(Claim claim) throws SQLException {
        mustWrite();
        Resource resource = claim.resource;
        if (claim.isInline()) {
            resource.clearInlineGrant();
        } else {
            claims.drop(claim);
            if (claim.isGranted) {
                resource.grants--;
                resource.shared -= claim.weight;
            } else {
                resource.waiters--;
            }
            resource.isDirty = true;
        }
        unsettled.add(resource);
    }

    /** Lowers the weight of a grant. */
    void lighten(Claim grant, int weight) throws SQLException {
        if (grant.weight > weight) {
            if (!grant.isInline()) {
                grant.resource.shared -= grant.weight - weight;
                grant.resource.isDirty = true;
            }
            grant.weight = weight;
            save(grant);
            settle(grant.resource);
        }
    }

    /** Ends a claim and tells its session that its state has changed. */
    void refuse(Claim waiter) throws SQLException {
        Session session = known(waiter.session);
        drop(waiter);
        if (session != null) {
            tell(session.client, new Signal.Changed(waiter.ref()));
        }
    }

    /** Takes a grant away and tells its session. */
    void revoke(Claim grant) throws SQLException {
        Session session = known(grant.session);
        if (session != null) {
            tell(session.client, new Signal.Revoked(grant.ref()));
        }
        drop(grant);
        settle(grant.resource);
    }
}
