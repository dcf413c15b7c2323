package dev.holdfast.engine.local;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/** What never changes about a resource, and the lock that guards the rest. */
public class Resource {
    public final Partition partition;
    public final ResourceName name;
    public final ResourceSpec spec;
    final KindPolicy policy;
    private final ResourceRegistry<?> registry;

    /** Makes a resource that is not yet in a registry. */
    Resource(Partition partition, ResourceRegistry<?> registry, ResourceName name, ResourceSpec spec) {
        this.partition = partition;
        this.registry = registry;
        this.name = name;
        this.spec = spec;
        this.policy = KindPolicy.of(spec.kind());
    }

    /** The lock, which it may share with other resources. */
    public final ReentrantLock guard() {
        return registry.guards.of(name);
    }

    final void lock() {
        guard().lock();
    }

    final void unlock() {
        guard().unlock();
    }

    /** Leaves the registry: the next request for the name makes another resource. */
    final void leaveRegistry() {
        registry.resources.remove(name, this);
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
