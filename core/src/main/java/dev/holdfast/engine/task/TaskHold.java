package dev.holdfast.engine.task;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalClaim;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalResource;
import dev.holdfast.engine.local.Request;
import dev.holdfast.spi.CallerMode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The hold of one task: it hangs on nothing but its own lease, and is kept to the least time of the task. */
final class TaskHold extends LocalHold {

    private final LeftLeases leases;

    // Written before the task runs.
    private volatile boolean hasStarted;
    private volatile long startedAt;
    private volatile long atLeastNanos;

    TaskHold(LocalResource resource, LocalClaim grant, Request request, long token, LeftLeases leases) {
        super(resource, grant, request, token);
        this.leases = leases;
    }

    private ClientContext context() {
        return resource.partition.context;
    }

    /** The task begins. Called once. */
    void start(Duration atLeast) {
        atLeastNanos = atLeast.toNanos();
        startedAt = context().clock().now();
        hasStarted = true;
    }

    /** What is left of the least time; not positive when that is over. */
    long leastLeftNanos() {
        return atLeastNanos - (context().clock().now() - startedAt);
    }

    @Override
    public void extendLease(Duration lease) {
        throw new IllegalStateException(
                "The hold of task '" + name() + "' lasts for " + effectiveLease() + ", as it was begun");
    }

    /** A task that was not run leaves nothing; one that was lost leaves what the store has of it. */
    @Override
    protected @Nullable Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
        if (!hasStarted) {
            return null;
        }
        leases.add(grant);
        return loss() == null
                ? () -> new TaskEnd(this, leases, stage).send(caller)
                : () -> leases.removeAfter(grant, effectiveLease().toNanos());
    }

    /** Here an unconfirmed end is no failure: the task has run, and the lock ends by itself. */
    @Override
    public void requireGood(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            throw lostException(Loss.Cause.REMOVED);
        }
    }
}
