package dev.holdfast.engine.task;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LeaseExtension;
import dev.holdfast.engine.local.LocalGrant;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalResource;
import dev.holdfast.engine.local.Request;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The hold of one task: it hangs on nothing but its own lease, and is kept to the least time of the task. */
final class EngineTaskHold extends LocalHold implements TaskHold {

    private final LeftLeases leases;

    private volatile boolean hasStarted;

    /** When the least time is over. Written before the task runs, and by extensions. */
    private volatile long leastUntil;

    EngineTaskHold(LocalResource resource, LocalGrant grant, Request request, long token, LeftLeases leases) {
        super(resource, grant, request, token);
        this.leases = leases;
    }

    private ClientContext context() {
        return resource.partition.context;
    }

    /** The task begins. Called once. */
    void start(Duration atLeast) {
        keepFor(atLeast);
        hasStarted = true;
    }

    private void keepFor(Duration atLeast) {
        leastUntil = context().clock().now() + atLeast.toNanos();
    }

    /** What is left of the least time; not positive when that is over. */
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
        throw new IllegalStateException("The hold of task '" + name() + "' lasts for " + effectiveLease()
                + ", as it was begun: one that was begun by tryBegin is extended with new TaskOptions");
    }

    /** A task that was not run leaves nothing; one that was lost leaves what the store has of it. */
    @Override
    protected @Nullable Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
        if (!hasStarted) {
            return null;
        }
        leases.add(grant);
        if (loss() != null) {
            return () -> leases.removeAfter(grant, effectiveLease().toNanos());
        }
        FixedLeaseState own = Objects.requireNonNull(grant.own, "a task has a lease of its own");
        TaskEnd end = new TaskEnd(this, own, leases, stage);
        return () -> end.send(caller);
    }

    /** Here an unconfirmed end is no failure: the task has run, and the lock ends by itself. */
    @Override
    public void requireGood(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            throw lostException(Loss.Cause.REMOVED);
        }
    }
}
