package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.time.ElapsedClock;

/*
 * A grant is good until the deadline of its lease, as long as the session that it hangs on is alive and nothing puts it
 * in doubt: a step of the wall clock, or a signal of the store that speaks against it, until the store was asked after
 * that. The session's side of this is the keeper's; here it is joined with what the grant has of its own.
 */
/** Decides whether grants of one partition of the store may be relied on. Thread-safe. */
public final class GrantValidity {
    private final ClientContext context;
    private final ElapsedClock clock;
    private final SafetyRules rules;
    private final Partition partition;

    GrantValidity(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
        this.clock = context.clock();
        this.rules = context.rules();
    }

    /** Whether a hold under this grant is good now; tells its loss if it finds it. Called without any lock. */
    public boolean isGood(Claim grant) {
        long now = clock.now();
        if (!rules.isGood(now, grant.deadline())) {
            expireIfDue(grant);
            return false;
        }
        return isBacked(grant) && !inDoubt(grant);
    }

    /** Whether a grant can't be good any more, told or not. */
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

    /** Whether a grant may go on when its hold is given up. May be called under the lock of its resource. */
    public boolean mayPassOn(Claim grant) {
        return rules.mayPassOn(clock.now(), grant.deadline());
    }

    /** Whether the session that a grant hangs on is alive, if it hangs on one. */
    private static boolean isBacked(Claim grant) {
        return grant.session.isAlive() || (grant.isDetached() && grant.state == Claim.State.HELD);
    }

    private boolean inDoubt(Claim grant) {
        return (!grant.isDetached() && partition.keeper.inDoubt(grant.session))
                || grant.isContradicted()
                || (grant.own != null && rules.stepsRaiseDoubt() && grant.own.clearedSteps != clock.steps());
    }

    /** Ends a grant whose deadline has passed. Called without any lock. */
    public void expireIfDue(Claim grant) {
        partition.keeper.check(grant.session);
        FixedLeaseState own = grant.own;
        if (own != null && grant.state == Claim.State.HELD && !rules.isGood(clock.now(), own.deadline)) {
            grant.end(Loss.Cause.LEASE_ENDED);
        }
    }

    /**
     * Expires a grant when its own lease should have ended, and looks in between, for timers stand still while the
     * machine is suspended.
     */
    public void watchLease(Claim grant, FixedLeaseState own) {
        long soon = context.options().keepAliveEvery().toNanos() / KeepAliveTimers.LOOKS_PER_KEEP_ALIVE;
        grant.lock().lock();
        try {
            if (own.expiry != null) {
                own.expiry.cancel();
            }
            if (grant.state == Claim.State.HELD) {
                long left = own.deadline - clock.now();
                own.expiry = context.environment().schedule(Math.min(left, soon), () -> {
                    expireIfDue(grant);
                    askIfDue(grant, own);
                    watchLease(grant, own);
                });
            }
        } finally {
            grant.lock().unlock();
        }
    }

    /** Asks the store once in a ttl for a grant that outlives its session, whose audits don't tell of it then. */
    private void askIfDue(Claim grant, FixedLeaseState own) {
        long now = clock.now();
        if (grant.isDetached()
                && now - own.toldAt >= context.options().sessionTtl().toNanos()) {
            own.toldAt = now;
            partition.driver.poll(grant);
        }
    }

    /** Asks the store because a grant is in doubt. Called without any lock. */
    public void resolveDoubt(Claim grant) {
        if (partition.keeper.inDoubt(grant.session)) {
            partition.keeper.askInDoubt(grant.session);
        }
        FixedLeaseState own = grant.own;
        if (own != null && own.clearedSteps != clock.steps() && own.askedSteps != clock.steps()) {
            own.askedSteps = clock.steps();
            partition.driver.poll(grant);
        }
    }
}
