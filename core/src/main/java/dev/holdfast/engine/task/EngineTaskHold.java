package dev.holdfast.engine.task;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.Grant;
import dev.holdfast.engine.local.HoldIssuer;
import dev.holdfast.engine.local.LeaseExtension;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.Request;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The hold of one task: it depends only on its own lease, and lasts at least for the task's least time. */
final class EngineTaskHold extends LocalHold implements TaskHold {

    private final LeftLeases leases;

    /** Written when the task begins. */
    private volatile @Nullable RunRecorder run;

    /** The end of the least time. Written before the task runs, and by extensions. */
    private volatile long leastUntil;

    EngineTaskHold(HoldIssuer issuer, Grant grant, Request request, long token, LeftLeases leases) {
        super(issuer, grant, request, token);
        this.leases = leases;
    }

    private ClientContext context() {
        return resource().partition.context;
    }

    /** The task begins. Called once. */
    void start(Duration atLeast) {
        keepFor(atLeast);
        run = new RunRecorder(resource().partition, resource().name, rawToken());
    }

    /** The task has returned, or thrown an exception. */
    void taskEnded(@Nullable Throwable thrown) {
        RunRecorder begun = run;
        if (begun != null) {
            begun.taskEnded(thrown);
        }
    }

    private void keepFor(Duration atLeast) {
        leastUntil = context().clock().now() + atLeast.toNanos();
    }

    /** What is left of the least time; not positive after its end. */
    long leastLeftNanos() {
        return leastUntil - context().clock().now();
    }

    @Override
    public void extend(TaskOptions options) {
        ensureHeld();
        LeaseExtension.extend(this, options.atMost());
        keepFor(options.atLeast());
    }

    @Override
    public void extendLease(Duration lease) {
        throw new IllegalStateException(
                "The hold of task '" + name() + "' keeps the lease of " + DurationFormat.format(effectiveLease())
                        + " with which it began: extend a hold from tryBegin with new TaskOptions");
    }

    /** Releases the lock of a task that was not run at once; a lost one is left to the store. */
    @Override
    protected @Nullable Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
        RunRecorder begun = run;
        if (begun == null) {
            return null;
        }
        leases.add(claim());
        if (loss() != null) {
            return () -> {
                begun.record(true);
                leases.removeAfter(claim(), effectiveLease().toNanos());
            };
        }
        FixedLeaseState own = Objects.requireNonNull(claim().fixedLease, "a task has a fixed lease");
        TaskEnd end = new TaskEnd(this, own, leases, stage);
        return () -> {
            // First, because the caller may close the client as soon as the end is confirmed.
            begun.record(false);
            end.send(caller);
        };
    }

    /** An unconfirmed end is not a failure here: the task has run, and the lease ends the lock. */
    @Override
    public void requireGood(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            throw lostException(Loss.Cause.REMOVED);
        }
    }
}
