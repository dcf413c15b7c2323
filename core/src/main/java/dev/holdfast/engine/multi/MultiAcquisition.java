package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.Failures;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * Why nobody waits in a circle: whoever waits for a part holds only parts (of this list) that come before it in the one
 * order that all callers share. Taken in that order this is so by itself, unless the thread came with a part in hand.
 * The parts before the last one that it came with are therefore never waited for, only tried (for no longer than the
 * answer takes that is under way); if one is taken, all that this call has acquired is given back and everything begins
 * anew after a pause. What the thread came with it keeps: that is why two callers that each came with what the other
 * lacks can only be parted by their time-outs.
 */

/** One call that acquires all parts for the calling thread, or none. Used by that thread alone. */
final class MultiAcquisition {

    private static final Backoff BACKOFF = Backoff.from(Duration.ofMillis(1), 6);

    private final ClientContext context;
    private final List<MultiLockMember> parts;
    private final AcquireOptions options;
    private final TotalWait wait;
    private final boolean isInterruptible;

    /** The parts before this one are only tried. */
    private final int waitsFrom;

    /** What this attempt has acquired, in order. */
    private final List<Hold> held = new ArrayList<>();

    /** What could not be had in this attempt. */
    private @Nullable MultiLockMember missing;

    /** How a part was lost in this attempt. */
    private @Nullable LockLostException lost;

    MultiAcquisition(
            ClientContext context,
            List<MultiLockMember> parts,
            AcquireOptions options,
            TotalWait wait,
            boolean isInterruptible) {
        this.context = context;
        this.parts = parts;
        this.options = options;
        this.wait = wait;
        this.isInterruptible = isInterruptible;
        int last = -1;
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).isHeldByCaller()) {
                last = i;
            }
        }
        waitsFrom = last + 1;
        if (last >= 0 && AcquireTerms.of(options).hasOwnLease()) {
            throw new IllegalStateException("Lock '" + parts.get(last).resource()
                    + "' is held by this thread already: a nested acquire can't change its lease");
        }
    }

    /** The holds in the order of the parts, or empty if they could not be had in time; nothing is held then. */
    Optional<List<Hold>> run() throws InterruptedException {
        for (int failures = 0; ; failures++) {
            if (acquireAll()) {
                return Optional.of(List.copyOf(held));
            }
            giveBack();
            boolean isFinal = missing != null && mayWaitFor(missing);
            if (isFinal || wait.isOver()) {
                return Optional.empty();
            }
            pause(failures);
        }
    }

    /** Why {@link #run} answered empty; names who is in the way of the part that was missing. */
    RuntimeException timedOut() {
        MultiLockMember last = missing == null ? parts.get(0) : missing;
        RuntimeException timeout = last.resources()
                .lookup
                .timedOut(
                        last.resources().partition(last.resource()),
                        last.resource(),
                        wait.most().orElseThrow(),
                        wait.leftForAnswers(Long.MAX_VALUE));
        if (lost != null) {
            timeout.addSuppressed(lost);
        }
        return timeout;
    }

    private boolean acquireAll() throws InterruptedException {
        held.clear();
        missing = null;
        lost = null;
        try {
            for (MultiLockMember part : parts) {
                Optional<Hold> hold = acquire(part);
                if (hold.isEmpty()) {
                    missing = part;
                    return false;
                }
                held.add(hold.get());
            }
            return areAllGood();
        } catch (InterruptedException | RuntimeException | Error e) {
            BulkRelease.of(context, held).forEach(e::addSuppressed);
            throw e;
        }
    }

    private Optional<Hold> acquire(MultiLockMember part) throws InterruptedException {
        if (!isInterruptible) {
            return part.tryAcquire();
        }
        return part.tryAcquire(mayWaitFor(part) || part.isHeldByCaller() ? wait.within(options) : wait.atOnce(options));
    }

    private boolean mayWaitFor(MultiLockMember part) {
        return parts.indexOf(part) >= waitsFrom;
    }

    /** Whether none was lost while others were waited for; sets fixed leases to their full length. */
    private boolean areAllGood() {
        try {
            AcquireTerms terms = AcquireTerms.of(options);
            if (terms.isExtendable()) {
                for (Hold hold : held.subList(0, held.size() - 1)) {
                    hold.extend(terms.lease().length());
                }
            }
            for (Hold hold : held) {
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

    private void giveBack() {
        List<RuntimeException> failures = BulkRelease.of(context, held);
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
