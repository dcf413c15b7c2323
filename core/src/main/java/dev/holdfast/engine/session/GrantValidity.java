package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.time.ElapsedClock;
import java.util.function.Consumer;

/*
 * A grant is good until the deadline of its lease, while its session is alive and nothing puts it in doubt. A step of
 * the wall clock puts it in doubt, and so does a signal that it was revoked, until the store has answered a later
 * question. The keeper decides this for the session; this class adds the grant's own lease and signals.
 */
/** Decides whether grants of one partition of the store may be relied on. Thread-safe. */
public final class GrantValidity {
    private final ClientContext context;
    private final ElapsedClock clock;
    private final SafetyRules rules;
    private final SessionKeeper keeper;
    private final Consumer<Claim> poll;

    /**
     * Makes the decisions for the sessions of a keeper.
     *
     * @param poll asks the store about the state of a grant
     */
    GrantValidity(ClientContext context, SessionKeeper keeper, Consumer<Claim> poll) {
        this.context = context;
        this.clock = context.clock();
        this.rules = context.rules();
        this.keeper = keeper;
        this.poll = poll;
    }

    /** Whether a hold under this grant is good now; ends it if its deadline has passed. Called without any lock. */
    public boolean isGood(Claim grant) {
        long now = clock.now();
        if (!rules.isGood(now, grant.deadline())) {
            expireIfDue(grant);
            return false;
        }
        return isBacked(grant) && !inDoubt(grant);
    }

    /** Whether a grant can no longer be good, though its loss may not be reported yet. */
    public boolean isPast(Claim grant) {
        return !isBacked(grant) || !rules.isGood(clock.now(), grant.deadline());
    }

    /** Whether a local request may get this grant now. May be called under the lock of its resource. */
    public boolean mayHandOn(Claim grant) {
        long now = clock.now();
        return isBacked(grant) && rules.mayHandOn(now, grant.deadline(), inDoubt(grant));
    }

    /** Whether a fresh grant is still worth a hold. May be called under the lock of its resource. */
    public boolean mayBecomeHold(Claim grant) {
        return grant.session.isAlive() && rules.isGood(clock.now(), grant.deadline());
    }

    /** Whether a grant may outlast the release of its hold. May be called under the lock of its resource. */
    public boolean mayOutlastHold(Claim grant) {
        return rules.mayPassOn(clock.now(), grant.deadline());
    }

    /** Whether the session that a grant depends on is alive, if it depends on one. */
    private static boolean isBacked(Claim grant) {
        return grant.session.isAlive() || (grant.isDetached() && grant.isHeld());
    }

    private boolean inDoubt(Claim grant) {
        return (!grant.isDetached() && keeper.inDoubt(grant.session))
                || grant.isRevocationPending()
                || (grant.fixedLease != null && rules.stepsRaiseDoubt() && grant.fixedLease.inDoubt(clock.steps()));
    }

    /** Ends a grant whose deadline has passed. Called without any lock. */
    public void expireIfDue(Claim grant) {
        keeper.check(grant.session);
        FixedLeaseState fixedLease = grant.fixedLease;
        if (fixedLease != null && grant.isHeld() && !rules.isGood(clock.now(), fixedLease.deadline())) {
            grant.expire(Loss.Cause.LEASE_ENDED);
        }
    }

    /**
     * Expires a grant when its own lease ends. Checks more often than that: timers stop while the machine is suspended.
     */
    public void watchLease(Claim grant, FixedLeaseState fixedLease) {
        long soon = context.options().keepAliveEvery().toNanos() / KeepAliveTimers.CHECKS_PER_KEEP_ALIVE;
        grant.lock().lock();
        try {
            fixedLease.stopChecking();
            if (grant.isHeld()) {
                long left = fixedLease.deadline() - clock.now();
                fixedLease.checkBy(context.environment().schedule(Math.min(left, soon), () -> {
                    expireIfDue(grant);
                    pollIfDue(grant, fixedLease);
                    watchLease(grant, fixedLease);
                }));
            }
        } finally {
            grant.lock().unlock();
        }
    }

    /** Polls once per ttl a grant that outlives its session: audits of a session don't cover it then. */
    private void pollIfDue(Claim grant, FixedLeaseState fixedLease) {
        if (grant.isDetached()
                && fixedLease.beginPoll(
                        clock.now(), context.options().sessionTtl().toNanos())) {
            poll.accept(grant);
        }
    }

    /** Asks the store about a grant in doubt. Called without any lock. */
    public void resolveDoubt(Claim grant) {
        if (keeper.inDoubt(grant.session)) {
            keeper.askInDoubt(grant.session);
        }
        FixedLeaseState fixedLease = grant.fixedLease;
        if (fixedLease != null && fixedLease.askOnce(clock.steps())) {
            poll.accept(grant);
        }
    }
}
