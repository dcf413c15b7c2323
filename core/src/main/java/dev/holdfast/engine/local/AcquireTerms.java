package dev.holdfast.engine.local;

import dev.holdfast.AcquireOptions;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.Lease;

/**
 * The terms of one acquisition: the lease, and how long to wait. Immutable.
 *
 * @param lease what the grant hangs on
 * @param isExtendable whether the lease is the owner's to extend: a bound for a stuck thread is not
 * @param waitNanos how long others may keep the resource; 0 for a single attempt
 */
public record AcquireTerms(Lease lease, boolean isExtendable, long waitNanos) {

    /** A renewed hold, however long others keep the resource. */
    public static final AcquireTerms FOREVER = within(TotalWait.FOREVER);

    /** A renewed hold, now or not at all. */
    public static final AcquireTerms TRY = within(0);

    /** A renewed hold, if others don't keep the resource for longer than this. */
    public static AcquireTerms within(long waitNanos) {
        return new AcquireTerms(Lease.SESSION, false, waitNanos);
    }

    /** A single attempt with a lease that its owner does not extend. */
    public static AcquireTerms attempt(Lease lease) {
        return new AcquireTerms(lease, false, 0);
    }

    /** What a user asks for. */
    public static AcquireTerms of(AcquireOptions options) {
        Lease lease = options.detachedLease()
                .map(Lease::detached)
                .or(() -> options.fixedLease().or(options::maxHold).map(Lease::bounded))
                .orElse(Lease.SESSION);
        return new AcquireTerms(
                lease,
                options.fixedLease().isPresent() || options.detachedLease().isPresent(),
                options.maxWait().map(TotalWait::nanos).orElse(TotalWait.FOREVER));
    }

    /** Whether a single attempt is made, which never queues at the store. */
    boolean isTry() {
        return waitNanos == 0;
    }

    /** Whether the grant has a lease of its own. */
    public boolean hasOwnLease() {
        return lease.binding() != Lease.Binding.SESSION;
    }
}
