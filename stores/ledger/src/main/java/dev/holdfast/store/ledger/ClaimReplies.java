package dev.holdfast.store.ledger;

import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** Replies about the state of a claim. Changes nothing. */
final class ClaimReplies {

    private final Ledger ledger;

    ClaimReplies(Ledger ledger) {
        this.ledger = ledger;
    }

    /** A grant as it is at a time of the store's clock. */
    static Reply.Granted granted(ClaimRow grant, long now) {
        return new Reply.Granted(grant.tokens(), ownLeaseLeft(grant, now), grant.resource.waiters > 0);
    }

    private static Optional<Duration> ownLeaseLeft(ClaimRow grant, long now) {
        if (!grant.hasOwnLease()) {
            return Optional.empty();
        }
        return Optional.of(Micros.duration(grant.ends < 0 ? -grant.ends : grant.ends - now));
    }

    /** The state of a claim, for its claimant. */
    Reply.ClaimReply stateOf(ClaimRow claim) throws SQLException {
        return claim.isGranted ? granted(claim, ledger.now()) : queued(claim);
    }

    private Reply.Queued queued(ClaimRow waiter) throws SQLException {
        ResourceRow resource = waiter.resource;
        Set<Long> inTheWay = new LinkedHashSet<>();
        long left = Long.MAX_VALUE;
        if (resource.hasInlineGrant()) {
            ClaimRow grant = ClaimRow.inline(resource);
            left = leftInAll(grant);
            if (!grant.outlivesSession()) {
                inTheWay.add(grant.session);
            }
        }
        if (resource.grants > 0) {
            left = Math.min(left, ledger.claimRows().firstEnd(resource) - ledger.now());
            for (ClaimRows.SessionGrants holder : ledger.claimRows().grantedSessions(resource)) {
                left = Math.min(left, sessionLeft(holder.session()));
                inTheWay.add(holder.session());
            }
        }
        ClaimRow head = ledger.claimRows().head(resource);
        boolean isHead = head == null || head.place == waiter.place;
        if (head != null) {
            left = Math.min(left, sessionLeft(head.session));
            inTheWay.add(head.session);
        }
        SessionRow own = ledger.sessions().known(waiter.session);
        long until = ledger.now() + Math.min(left, sessionLeft(waiter.session));
        WaitCondition wait = new WaitCondition(isHead, own == null ? 1 : own.ttl, clientsOf(inTheWay), until);
        long recheck = ledger.context().recheck(waiter.ref(), wait);
        return new Reply.Queued(Micros.duration(Math.max(1, Math.min(recheck, left))));
    }

    private Set<Long> clientsOf(Set<Long> ids) throws SQLException {
        Set<Long> clients = new LinkedHashSet<>();
        for (long id : ids) {
            SessionRow session = ledger.sessions().known(id);
            if (session != null && !session.hasEnded()) {
                clients.add(session.client);
            }
        }
        return clients;
    }

    /** The microseconds after which a live claim ends if nobody renews or extends anything. */
    long leftInAll(ClaimRow claim) throws SQLException {
        if (claim.outlivesSession()) {
            return Math.max(1, claim.ends - ledger.now());
        }
        long session = Math.max(1, sessionLeft(claim.session));
        return claim.ends > 0 ? Math.max(1, Math.min(claim.ends - ledger.now(), session)) : session;
    }

    /** {@link Long#MAX_VALUE} where the session is not what the claim depends on any more. */
    private long sessionLeft(long id) throws SQLException {
        SessionRow session = ledger.sessions().known(id);
        return session == null || session.hasEnded() ? Long.MAX_VALUE : session.deadline - ledger.now();
    }
}
