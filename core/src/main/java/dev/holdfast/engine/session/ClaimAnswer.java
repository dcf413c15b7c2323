package dev.holdfast.engine.session;

import dev.holdfast.LockMismatchException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.ClaimReplyHandler;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies one answer of the store to a claim: a method for each state. Callers hold the claim's lock; what has to be
 * done without it is added to the deferred actions.
 */
final class ClaimAnswer implements ClaimReplyHandler {

    private final Partition partition;
    private final ClientContext context;
    private final Claim claim;
    private final long sentAt;
    private final long steps;
    private final DeferredActions deferred;

    /**
     * Begins with an answer.
     *
     * @param sentAt when the request was sent
     * @param steps how many steps of the wall clock had been seen then
     */
    ClaimAnswer(Partition partition, Claim claim, long sentAt, long steps, DeferredActions deferred) {
        this.partition = partition;
        this.context = partition.context;
        this.claim = claim;
        this.sentAt = sentAt;
        this.steps = steps;
        this.deferred = deferred;
    }

    @Override
    public void granted(Reply.Granted granted) {
        FixedLeaseState fixedLease = claim.fixedLease;
        if (fixedLease != null) {
            noteLease(fixedLease, granted);
        }
        boolean wasHeld = claim.isHeld();
        claim.listener().granted(claim, granted, sentAt, deferred);
        if (!wasHeld && claim.isHeld() && claim.isRevocationPending()) {
            // The poll after the signal found no hold to protect, and nothing else would poll again.
            deferred.add(() -> partition.driver.poll(claim));
        }
        if (fixedLease != null && claim.isHeld()) {
            deferred.add(() -> partition.validity.watchLease(claim, fixedLease));
        }
    }

    @Override
    public void queued(Reply.Queued queued) {
        claim.listener().queued(claim, deferred);
        if (claim.isQueued()) {
            deferred.add(() -> partition.poller.add(claim, queued.recheckIn()));
            if (claim.takeOvertaken()) {
                deferred.add(() -> partition.driver.poll(claim));
            }
        }
    }

    @Override
    public void refused(Reply.Refused refused) {
        claim.listener().notGranted(claim, denial(refused), refused.detail(), reasonOf(refused), deferred);
    }

    @Override
    public void absent(Reply.Absent absent) {
        claim.listener().vanished(claim, deferred);
    }

    @Override
    public void sessionEnded(Reply.SessionEnded ended) {
        deferred.add(() -> partition.keeper.endedAtStore(claim.session));
    }

    /** A stale sending is sent again and does not come here; a poll has no epoch. */
    @Override
    public void stale(Reply.Stale stale) {
        violation(stale);
    }

    @Override
    public void unsupported(Reply.Unsupported unsupported) {
        violation(unsupported);
    }

    /** Applies an answer that no store gives to such a request. */
    void violation(Reply reply) {
        claim.listener()
                .notGranted(
                        claim,
                        Claim.Denial.REFUSED,
                        null,
                        () -> context.storeFailure(claim.name(), ProtocolViolation.reply(reply)),
                        deferred);
    }

    private void noteLease(FixedLeaseState fixedLease, Reply.Granted granted) {
        fixedLease.confirm(context.clock().now(), steps);
        if (granted.remaining().isPresent()) {
            long remaining = granted.remaining().get().toNanos();
            long margin = context.rules().margin(fixedLease.lengthNanos(), partition.wire.p99RoundTrip());
            long now = context.clock().now();
            long deadline = context.rules().deadline(sentAt, now, remaining, margin);
            // A request sent before an extension was settled may be answered with the lease before it, which may
            // have been longer. An answer after the deadline does not restore what was lost.
            boolean isLate = claim.isHeld() && !context.rules().mayRenew(now, fixedLease.deadline());
            if (isLate || fixedLease.isOutdated(sentAt)) {
                fixedLease.endBy(deadline);
            } else {
                fixedLease.endAt(deadline);
            }
        }
    }

    private static Claim.Denial denial(Reply.Refused refused) {
        return switch (refused.reason()) {
            case TAKEN -> Claim.Denial.TAKEN;
            case TOO_HEAVY -> Claim.Denial.TOO_HEAVY;
            default -> Claim.Denial.REFUSED;
        };
    }

    /** The failure of the requests that wait; null if others have or want the resource. */
    private @Nullable Supplier<RuntimeException> reasonOf(Reply.Refused refused) {
        String name = claim.name();
        return switch (refused.reason()) {
            case TAKEN -> null;
            case EXHAUSTED ->
                () -> context.storeFailure(
                        name, new StoreException(Reason.DENIED, Effect.NONE, refused.detail(), null));
            default -> () -> new LockMismatchException(name, context.product(), refused.detail());
        };
    }
}
