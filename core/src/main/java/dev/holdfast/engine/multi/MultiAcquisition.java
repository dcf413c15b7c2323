package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.Failures;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.AcquireTerms.Interrupts;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * Why callers never wait in a circle: a caller that waits for a part holds only parts that come before it in the one
 * order that all callers share. Acquiring in that order ensures this, unless the thread already held a part before the
 * call. Parts before the last such one are therefore never waited for, only tried, for no longer than a reply takes
 * that is under way. If one of them is taken, the call releases all that it has acquired, and starts again after a
 * pause. It keeps what the thread held before: two callers that each hold what the other lacks are therefore resolved
 * only by their time-outs.
 */

/**
 * One call that acquires all parts for the calling thread, or none. Used by that thread alone.
 *
 * <p>It is not an {@link AsyncMultiAcquisition} that is awaited: a re-entrant acquire must run on the owner's thread,
 * while the steps of that run on the threads that complete them; and a thread that waits for a part itself may make the
 * round trip to the store.
 */
final class MultiAcquisition {

    private static final Backoff BACKOFF = Backoff.from(Duration.ofMillis(1), 6);

    private final ClientContext context;
    private final List<MultiLockMember> parts;
    private final AcquireOptions options;
    private final TotalWait wait;
    private final Interrupts interrupts;

    /** The index of the first part that may be waited for; those before it are only tried. */
    private final int firstWaited;

    /** What this attempt has acquired, in order. */
    private final List<Hold> holds = new ArrayList<>();

    /** The part that this attempt could not acquire. */
    private @Nullable MultiLockMember missing;

    /** The loss of a part during this attempt. */
    private @Nullable LockLostException lost;

    MultiAcquisition(
            ClientContext context,
            List<MultiLockMember> parts,
            AcquireOptions options,
            TotalWait wait,
            Interrupts interrupts) {
        this.context = context;
        this.parts = parts;
        this.options = options;
        this.wait = wait;
        this.interrupts = interrupts;
        int last = -1;
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).isHeldByCaller()) {
                last = i;
            }
        }
        firstWaited = last + 1;
        if (last >= 0 && AcquireTerms.of(options).hasOwnLease()) {
            throw new IllegalStateException("Lock '" + parts.get(last).resource()
                    + "' is already held by this thread: a nested acquire can't change its lease");
        }
    }

    /** Returns the holds in the order of the parts; or, with nothing held, empty if time ran out. */
    Optional<List<Hold>> run() throws InterruptedException {
        for (int failures = 0; ; failures++) {
            if (acquireAll()) {
                return Optional.of(List.copyOf(holds));
            }
            release();
            boolean isFinal = missing != null && mayWaitFor(missing);
            if (isFinal || wait.isOver()) {
                return Optional.empty();
            }
            pause(failures);
        }
    }

    /** Why {@link #run} returned empty; names the holder of the missing part. */
    RuntimeException timedOut() {
        MultiLockMember last = missing == null ? parts.get(0) : missing;
        RuntimeException timeout = last.resources()
                .lookup
                .timedOut(
                        last.resources().partition(last.resource()),
                        last.resource(),
                        wait.most().orElseThrow(),
                        wait.leftForAnswers(Long.MAX_VALUE),
                        last.resources().ownHoldHint(last.resource()));
        if (lost != null) {
            timeout.addSuppressed(lost);
        }
        return timeout;
    }

    private boolean acquireAll() throws InterruptedException {
        holds.clear();
        missing = null;
        lost = null;
        try {
            for (MultiLockMember part : parts) {
                Optional<Hold> hold = acquire(part);
                if (hold.isEmpty()) {
                    missing = part;
                    return false;
                }
                holds.add(hold.get());
            }
            return settle();
        } catch (InterruptedException | RuntimeException | Error e) {
            BulkRelease.of(context, holds).forEach(e::addSuppressed);
            throw e;
        }
    }

    private Optional<Hold> acquire(MultiLockMember part) throws InterruptedException {
        if (interrupts == Interrupts.KEEP_WAITING) {
            return part.tryAcquire();
        }
        return part.tryAcquire(mayWaitFor(part) || part.isHeldByCaller() ? wait.within(options) : wait.atOnce(options));
    }

    private boolean mayWaitFor(MultiLockMember part) {
        return parts.indexOf(part) >= firstWaited;
    }

    /** Extends fixed leases to their full length; returns whether no part was lost while others were waited for. */
    private boolean settle() {
        try {
            AcquireTerms terms = AcquireTerms.of(options);
            if (terms.isExtendable()) {
                for (Hold hold : holds.subList(0, holds.size() - 1)) {
                    hold.extend(terms.lease().length());
                }
            }
            for (Hold hold : holds) {
                if (!hold.isHeld()) {
                    hold.ensureHeld();
                }
            }
            return true;
        } catch (LockLostException e) {
            lost = e;
            return false;
        }
    }

    private void release() {
        List<RuntimeException> failures = BulkRelease.of(context, holds);
        if (!failures.isEmpty()) {
            throw Failures.joined(failures);
        }
    }

    private void pause(int failures) throws InterruptedException {
        long nanos = BACKOFF.pause(context.environment(), failures);
        long until = context.environment().monotonicNanos() + wait.leftNanos(nanos);
        while (until - context.environment().monotonicNanos() > 0) {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting for locks " + names());
            }
            context.environment().parkUntil(this, until);
        }
    }

    private List<ResourceName> names() {
        return parts.stream().map(MultiLockMember::resource).toList();
    }
}
