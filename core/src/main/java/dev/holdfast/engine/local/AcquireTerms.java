package dev.holdfast.engine.local;

import dev.holdfast.AcquireOptions;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.Lease;
import org.jspecify.annotations.Nullable;

/**
 * The terms of one acquisition. Immutable.
 *
 * @param lease what ends the grant
 * @param isExtendable whether the owner may extend the lease: not if it only bounds a stuck thread
 * @param waitNanos how long others may keep the resource; 0 for a single attempt
 * @param interrupts what an interrupt does to a thread that waits
 * @param message what the hold is for; null if that is not said
 */
public record AcquireTerms(
        Lease lease,
        boolean isExtendable,
        long waitNanos,
        Interrupts interrupts,
        @Nullable String message) {

    /** What an interrupt does to a thread that waits; without effect on a stage. */
    public enum Interrupts {
        /** It ends the wait. */
        END_WAIT,
        /** It only sets the flag of the thread. */
        KEEP_WAITING
    }

    /** A renewed hold, however long others keep the resource. */
    public static final AcquireTerms FOREVER = within(TotalWait.FOREVER);

    /** As {@link #FOREVER}, whatever interrupts there are. */
    public static final AcquireTerms FOREVER_UNINTERRUPTIBLY =
            new AcquireTerms(Lease.SESSION, false, TotalWait.FOREVER, Interrupts.KEEP_WAITING, null);

    /** A renewed hold, at once or not at all, whatever interrupts there are. */
    public static final AcquireTerms TRY = attempt(Lease.SESSION);

    /** A renewed hold, if others don't keep the resource for longer than this. */
    public static AcquireTerms within(long waitNanos) {
        return new AcquireTerms(Lease.SESSION, false, waitNanos, Interrupts.END_WAIT, null);
    }

    /** A single attempt with a lease that its owner does not extend, whatever interrupts there are. */
    public static AcquireTerms attempt(Lease lease) {
        return new AcquireTerms(lease, false, 0, Interrupts.KEEP_WAITING, null);
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
                options.maxWait().map(TotalWait::nanos).orElse(TotalWait.FOREVER),
                Interrupts.END_WAIT,
                options.message().orElse(null));
    }

    /** Whether a single attempt is made, which never queues at the store. */
    boolean isTry() {
        return waitNanos == 0;
    }

    /** Whether an interrupt ends the wait. */
    public boolean isInterruptible() {
        return interrupts == Interrupts.END_WAIT;
    }

    /** Whether the grant's lease is its own and not that of the session. */
    public boolean hasOwnLease() {
        return lease.binding() != Lease.Binding.SESSION;
    }
}
