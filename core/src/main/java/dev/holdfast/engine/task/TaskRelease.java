package dev.holdfast.engine.task;

import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.ReleaseRetrier;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One command at a time is on its way, so this needs no lock: whoever gets its answer, or its failure, goes on.
 */

/** The end of one hold at the store: it is released there, or left to end by itself when its least time has passed. */
final class TaskRelease {
    private static final Logger log = LoggerFactory.getLogger(TaskRelease.class);

    private static final Backoff BACKOFF = Backoff.from(Duration.ofMillis(20), 6);

    /** The grain of the stores. */
    private static final long MIN_LEASE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** What came of it, as far as was known in time. Never fails. */
    final CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();

    private final TaskHolds tasks;
    private final ClientContext context;
    private final StorePart part;
    private final ClaimRef ref;
    private final Session session;
    private final long token;
    private final Duration atMost;
    private final long atLeastNanos;
    private final @Nullable AcquisitionObserver observer;
    private final FixedLeaseState atStore;

    TaskRelease(
            TaskHolds tasks,
            StorePart part,
            ClaimRef ref,
            Session session,
            long token,
            Duration atMost,
            Duration atLeast,
            @Nullable AcquisitionObserver observer) {
        this.tasks = tasks;
        this.context = tasks.context;
        this.part = part;
        this.ref = ref;
        this.session = session;
        this.token = token;
        this.atMost = atMost;
        this.atLeastNanos = atLeast.toNanos();
        this.observer = observer;
        this.atStore = new FixedLeaseState(atMost.toNanos());
    }

    /** The task is over. Called once, if {@link #release(CallerMode)} is not. */
    void giveBack(CallerMode caller, long beganAt) {
        giveBack(caller, beganAt, 0);
    }

    private void giveBack(CallerMode caller, long beganAt, int failures) {
        long left = atLeastNanos - (context.clock().now() - beganAt);
        if (left <= 0) {
            release(caller);
        } else {
            shorten(caller, beganAt, Math.max(left, MIN_LEASE_NANOS), failures);
        }
    }

    /** Gives it back at once. */
    void release(CallerMode caller) {
        part.retrier.settle(new Command.Release(ref), session, atStore, caller, new ReleaseRetrier.Done() {
            @Override
            public void settled(@Nullable Reply reply, boolean isFirst) {
                tasks.forget(ref);
                complete(reply == null ? ReleaseOutcome.UNCONFIRMED : outcomeOf(reply));
            }

            @Override
            public void delayed(StoreException failure) {
                complete(ReleaseOutcome.UNCONFIRMED);
            }
        });
    }

    /** What is asked for is less each time, so that a late one does not make the lock last longer than it should. */
    private void shorten(CallerMode caller, long beganAt, long leftNanos, int failures) {
        Command extend = new Command.Extend(ref, ++atStore.extensions, Duration.ofNanos(leftNanos));
        atStore.extend(leftNanos);
        part.wire.send(extend, caller, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                atStore.extended(leftNanos, context.clock().now(), session.goneAt());
                complete(outcomeOf(reply));
                tasks.forgetAfter(ref, leftNanos);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                complete(ReleaseOutcome.UNCONFIRMED);
                if (failure.reason() == StoreException.Reason.CLOSED) {
                    tasks.forgetAfter(ref, leftNanos);
                    return;
                }
                // At the latest when the least time has passed, the release takes over, which knows when to stop.
                BACKOFF.retry(context.environment(), failures, () -> giveBack(CallerMode.ASYNC, beganAt, failures + 1));
            }
        });
    }

    /** What an answer says of the hold. It counts if it is the first: after a failure, ours may have ended it. */
    private static ReleaseOutcome outcomeOf(Reply reply) {
        return reply instanceof Reply.Absent ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED;
    }

    /** The first outcome counts. */
    void complete(ReleaseOutcome how) {
        if (outcome.complete(how)) {
            if (how == ReleaseOutcome.UNCONFIRMED) {
                log.warn(
                        "resource={} store={} token={} the end of the task was not confirmed; it is repeated, and the"
                                + " lock ends within {}",
                        ref.resource(),
                        context.product(),
                        token,
                        atMost);
            }
            if (observer != null) {
                observer.released(how);
            }
        }
    }
}
