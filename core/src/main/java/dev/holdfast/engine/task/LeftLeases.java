package dev.holdfast.engine.task;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceSpec;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The grants of ended tasks whose leases are left to expire at the store. Keeps each for as long as the store may have
 * it, so that an audit does not report it as an orphan. Thread-safe.
 */
public final class LeftLeases implements SessionUser {

    final Mode mode = Mode.unowned(
            new ResourceSpec(Kind.TASK, 1, Order.FAIR),
            1,
            (issuer, grant, request, token) -> new EngineTaskHold(issuer, grant, request, token, this));

    private final ClientContext context;
    private final Set<ClaimRef> left = ConcurrentHashMap.newKeySet();

    public LeftLeases(ClientContext context) {
        this.context = context;
    }

    void add(Claim grant) {
        left.add(grant.ref());
    }

    void remove(Claim grant) {
        left.remove(grant.ref());
    }

    /** Forgets a grant when its lease has ended, even by a store's clock that runs slower. */
    void removeAfter(Claim grant, long leaseNanos) {
        long spare = leaseNanos / 4 + context.options().sessionTtl().toNanos();
        context.environment().schedule(leaseNanos + spare, () -> remove(grant));
    }

    @Override
    public boolean knows(ClaimRef ref) {
        return left.contains(ref);
    }

    public boolean isEmpty() {
        return left.isEmpty();
    }
}
