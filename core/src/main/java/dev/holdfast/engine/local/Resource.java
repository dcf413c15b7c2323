package dev.holdfast.engine.local;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What never changes about a resource, and the lock that guards the rest.
 *
 * <p>The lock of a resource is held together neither with that of another resource nor with that of the session keeper.
 * Nothing outside the engine is called under it: commands, wake-ups and listeners go to {@link DeferredActions}, which
 * run when the lock is free.
 */
public class Resource {

    /**
     * The locks that guard the resources of a client. It may have a million of them, so a resource has no lock of its
     * own, but uses one of a fixed number, by its name. No thread locks the guards of two resources at a time, so to
     * share them can't deadlock.
     */
    static final class Guards {

        /** As a power of two. There are so many that two busy resources rarely share a guard. */
        private static final int BITS = 10;

        /** Fibonacci hashing: names that differ only in their last digit don't get neighbours in the heap. */
        private static final int GOLDEN_RATIO = 0x9e3779b9;

        private final ReentrantLock[] locks = new ReentrantLock[1 << BITS];

        Guards() {
            for (int i = 0; i < locks.length; i++) {
                locks[i] = new ReentrantLock();
            }
        }

        ReentrantLock of(ResourceName name) {
            return locks[(name.hashCode() * GOLDEN_RATIO) >>> (Integer.SIZE - BITS)];
        }
    }

    /** The resources of one partition that this process uses, by name, and the locks that guard them. Thread-safe. */
    static final class Registry<R extends Resource> {
        final ConcurrentMap<ResourceName, R> resources = new ConcurrentHashMap<>();
        final Guards guards;

        /** How often all resources were to be checked since that began; 0 while it is not being done. */
        final AtomicInteger checksRequested = new AtomicInteger();

        Registry(Guards guards) {
            this.guards = guards;
        }
    }

    public final Partition partition;
    public final ResourceName name;
    public final ResourceSpec spec;
    final KindPolicy policy;
    private final Registry<?> registry;

    /** Makes a resource that is not yet in a registry. */
    Resource(Partition partition, Registry<?> registry, ResourceName name, ResourceSpec spec) {
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
