package dev.holdfast.engine.task;

import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a task's grant at the store: a release, or a lease shortened to what is left of the least time. Only one
 * command is under way at a time, and its outcome makes the next step, so it needs no lock.
 */
final class TaskEnd {
    private static final Logger log = LoggerFactory.getLogger(TaskEnd.class);

    /** The granularity of stores. */
    private static final long MIN_LEASE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final EngineTaskHold hold;
    private final LeftLeases leases;
    private final CompletableFuture<ReleaseOutcome> stage;
    private final ClientContext context;
    private final Partition partition;
    private final Claim grant;

    /** The most that may be left at the store: the lease, plus each extension that may still take effect. */
    private final FixedLeaseState atStore;

    private final Duration atMost;
    private int failures;

    /**
     * Called under the lock of the resource.
     *
     * @param atStore the most that may be left at the store so far
     */
    TaskEnd(EngineTaskHold hold, FixedLeaseState atStore, LeftLeases leases, CompletableFuture<ReleaseOutcome> stage) {
        this.hold = hold;
        this.leases = leases;
        this.stage = stage;
        this.partition = hold.resource().partition;
        this.context = partition.context;
        this.grant = hold.claim();
        this.atMost = hold.effectiveLease();
        this.atStore = atStore.copy();
    }

    void send(CallerMode caller) {
        long left = hold.leastLeftNanos();
        if (left > 0) {
            shorten(caller, Math.max(left, MIN_LEASE_NANOS));
        } else {
            release(caller);
        }
    }

    private void release(CallerMode caller) {
        Command command = new Command.Release(grant.ref(), grant.isAnnotated());
        partition.retrier.settle(command, grant.session, atStore, caller, new ReleaseRetrier.Done() {
            @Override
            public void settled(@Nullable Reply reply, Command.Sending sending) {
                leases.remove(grant);
                complete(reply == null ? ReleaseOutcome.UNCONFIRMED : outcomeOf(reply));
            }

            @Override
            public void delayed(StoreException failure) {
                complete(ReleaseOutcome.UNCONFIRMED);
            }
        });
    }

    /** Each repetition requests less, so that a late command does not keep the lock for too long. */
    private void shorten(CallerMode caller, long leftNanos) {
        long number = atStore.beginExtension(leftNanos);
        Command extend = new Command.Extend(grant.ref(), number, Duration.ofNanos(leftNanos));
        partition.wire.send(extend, caller, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                leases.removeAfter(grant, leftNanos);
                complete(outcomeOf(reply));
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                complete(ReleaseOutcome.UNCONFIRMED);
                if (failure.reason() == StoreException.Reason.CLOSED) {
                    leases.removeAfter(grant, leftNanos);
                    return;
                }
                // When the least time has passed, a release takes over, whose retries are bounded.
                Backoff.RESEND.retry(context.environment(), failures++, () -> send(CallerMode.ASYNC));
            }
        });
    }

    /** The outcome by a reply. Absent means a loss only after one command: an earlier one may have ended the hold. */
    private static ReleaseOutcome outcomeOf(Reply reply) {
        return reply instanceof Reply.Absent ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED;
    }

    /** The first outcome counts. */
    private void complete(ReleaseOutcome outcome) {
        if (stage.complete(outcome) && outcome == ReleaseOutcome.UNCONFIRMED) {
            log.warn(
                    "resource={} store={} token={} the end of the task was not confirmed; it is "
                            + "retried, and the lock expires within {}",
                    hold.resource().name,
                    context.product(),
                    hold.rawToken(),
                    atMost);
        }
    }
}
