package dev.holdfast.engine.local;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What never changes about a resource, and the lock that guards the rest. It is the lock, rather than having one: a
 * client may hold a million locks, and this saves an object for each.
 */
@SuppressWarnings("serial") // never serialized
public class Resource extends ReentrantLock {
    public final Partition partition;
    public final ResourceName name;
    public final ResourceSpec spec;
    final KindPolicy policy;

    Resource(Partition partition, ResourceName name, ResourceSpec spec) {
        this.partition = partition;
        this.name = name;
        this.spec = spec;
        this.policy = KindPolicy.of(spec.kind());
    }

    final ClientContext context() {
        return partition.context;
    }

    /** How long a grant serves further requests of this process. */
    final KindPolicy.HandOver handOver() {
        return policy.handOver(context().cohortBudgetNanos(), context().traits());
    }

    /** A cohort whose budget begins with its first release, unless holds share the grant: that may be far off. */
    final CohortState newCohort(boolean isAwaited) {
        CohortState fresh = new CohortState(isAwaited);
        if (policy.isShared() || !context().rules().budgetBeginsWithRelease()) {
            fresh.begin(now() + context().cohortBudgetNanos());
        }
        return fresh;
    }

    final long now() {
        return partition.context.clock().now();
    }

    /** Changes something under the lock, and does afterwards what follows from it. */
    final void step(Consumer<DeferredActions> change) {
        DeferredActions deferred = new DeferredActions();
        lock();
        try {
            change.accept(deferred);
        } finally {
            unlock();
            deferred.send();
        }
    }

    /** As {@link #step}, for a change with a result. */
    final <T> T decide(Function<DeferredActions, T> change) {
        DeferredActions deferred = new DeferredActions();
        lock();
        try {
            return change.apply(deferred);
        } finally {
            unlock();
            deferred.send();
        }
    }

    /** Makes a step after a delay. */
    final void stepLater(long delayNanos, Consumer<DeferredActions> change, DeferredActions deferred) {
        deferred.add(() -> context().environment().schedule(delayNanos, () -> step(change)));
    }
}
