package dev.holdfast.engine.local;

import dev.holdfast.LockMismatchException;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Slices;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.HolderLookup;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Partitions;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The resources that this process uses, by name: requests enter here. Thread-safe. */
public final class LocalResources implements SessionUser {
    public final ClientContext context;
    public final HolderLookup lookup;
    final NestedWaits waits;
    private final Partitions partitions;
    private final Resource.Guards guards = new Resource.Guards();

    /** By the number of the partition; null for a partition that was never used. */
    private final AtomicReferenceArray<Resource.Registry<LocalSynchronizer>> registries;

    public LocalResources(Partitions partitions) {
        this.context = partitions.context;
        this.lookup = new HolderLookup(context);
        this.partitions = partitions;
        this.waits = new NestedWaits(this);
        this.registries = new AtomicReferenceArray<>(partitions.count());
    }

    /** The partition of the store to which a name belongs. */
    public Partition partition(ResourceName name) {
        return partitions.of(name);
    }

    /** Whether two names belong to one partition of the store. */
    public boolean areTogether(ResourceName one, ResourceName other) {
        return partitions.numberOf(one) == partitions.numberOf(other);
    }

    // ---- Resources

    /**
     * Serves a request at its resource, or queues it there.
     *
     * @throws LockMismatchException if this process uses the name as something else
     */
    LocalSynchronizer enter(ResourceName name, ResourceSpec spec, Request request) {
        Partition partition = partitions.of(name);
        Resource.Registry<LocalSynchronizer> registry = registryOf(partition.number);
        while (true) {
            LocalSynchronizer resource = registry.resources.get(name);
            if (resource == null) {
                resource = new LocalSynchronizer(partition, registry, name, spec);
                LocalSynchronizer other = registry.resources.putIfAbsent(name, resource);
                resource = other == null ? resource : other;
            }
            if (!resource.spec.equals(spec)) {
                throw usedOtherwise(resource);
            }
            if (resource.enter(request)) {
                return resource;
            }
        }
    }

    private Resource.Registry<LocalSynchronizer> registryOf(int number) {
        Resource.Registry<LocalSynchronizer> present = registries.get(number);
        if (present == null) {
            present = new Resource.Registry<>(guards);
            Resource.Registry<LocalSynchronizer> other = registries.compareAndExchange(number, null, present);
            present = other == null ? present : other;
        }
        return present;
    }

    @Nullable
    public LocalSynchronizer resource(ResourceName name) {
        Resource.Registry<LocalSynchronizer> registry = registries.get(partitions.numberOf(name));
        return registry == null ? null : registry.resources.get(name);
    }

    /** All resources in use. */
    public Collection<LocalSynchronizer> resources() {
        List<LocalSynchronizer> all = new ArrayList<>();
        for (int i = 0; i < registries.length(); i++) {
            all.addAll(resourcesAt(i));
        }
        return all;
    }

    private Collection<LocalSynchronizer> resourcesAt(int number) {
        Resource.Registry<LocalSynchronizer> present = registries.get(number);
        return present == null ? List.of() : present.resources.values();
    }

    /** The exception for a declaration of a name that this process uses with another one. */
    public RuntimeException usedOtherwise(Resource other) {
        ResourceSpec spec = other.spec;
        String words = spec.order() + " " + spec.kind();
        return new LockMismatchException(
                other.name.value(),
                context.product(),
                "this process already uses it as "
                        + (other.policy.isCapacityDeclared() ? words + " of " + spec.capacity() : words));
    }

    /**
     * Does nothing if the client is open and its store has such leases.
     *
     * @throws IllegalArgumentException if the store has none
     */
    public void requireSupported(Lease lease, ResourceName name) {
        context.requireOpen();
        if (lease.binding() == Lease.Binding.SESSION) {
            return;
        }
        if (context.traits().fixedLease() == StoreTraits.FixedLease.NONE) {
            throw new IllegalArgumentException("The store " + context.product() + " doesn't support fixed leases, so '"
                    + name + "' can't have one");
        }
        if (lease.binding() == Lease.Binding.DETACHED && !context.traits().has(Feature.DETACHED_GRANTS)) {
            throw new IllegalArgumentException("The store " + context.product()
                    + " doesn't support leases that outlive their client, so '" + name + "' can't have one");
        }
    }

    /**
     * A sentence for a wait that timed out, if the calling thread may have waited for itself; empty if not.
     *
     * @param name what it waited for
     */
    public String ownHoldHint(ResourceName name) {
        LocalSynchronizer resource = resource(name);
        LocalHold hold = resource == null ? null : resource.query(view -> view.unownedHoldFor(Thread.currentThread()));
        return hold == null ? "" : hold.unownedHint();
    }

    // ---- Sessions

    @Override
    public void opened(Partition partition) {
        each(partition, "resuming a lock under a new session", LocalSynchronizer::resume);
    }

    @Override
    public void refused(Partition partition, StoreException failure, long attempt) {
        each(
                partition,
                "ending waits",
                resource ->
                        resource.failQueuedBefore(attempt, () -> context.storeFailure(resource.name.value(), failure)));
    }

    @Override
    public void renewed(Partition partition) {
        Resource.Registry<LocalSynchronizer> registry = registries.get(partition.number);
        if (registry != null && registry.checksRequested.getAndIncrement() == 0) {
            check(registry);
        }
    }

    /** Checks all resources after a keep-alive, again if there was another one meanwhile. */
    private void check(Resource.Registry<LocalSynchronizer> registry) {
        int requested = registry.checksRequested.get();
        Slices.visit(
                context.environment(),
                "checking a lock after a keep-alive",
                registry.resources.values().iterator(),
                resource -> {
                    Failsafe.run("checking owners", resource::checkOwners);
                    resource.resumeAfterDoubt();
                },
                () -> {
                    if (!registry.checksRequested.compareAndSet(requested, 0)) {
                        check(registry);
                    }
                });
    }

    @Override
    public void over(Partition partition, Session session, Loss.Cause cause) {
        each(partition, "handling the end of a session", resource -> resource.sessionOver(session, cause));
    }

    @Override
    public void silent(Partition partition, StoreException failure) {
        each(
                partition,
                "ending waits",
                resource -> resource.failAll(() -> context.storeFailure(resource.name.value(), failure)));
    }

    @Override
    public void shut(Partition partition) {
        each(partition, "closing a lock", resource -> resource.shut(context.failures()::closed));
    }

    @Override
    public boolean isUsing(Partition partition) {
        return !resourcesAt(partition.number).isEmpty();
    }

    @Override
    public @Nullable Claim find(ClaimRef ref) {
        LocalSynchronizer resource = resource(ref.resource());
        return resource == null ? null : resource.claimOf(ref);
    }

    @Override
    public boolean knows(ClaimRef ref) {
        LocalSynchronizer resource = resource(ref.resource());
        return resource != null && resource.knows(ref);
    }

    @Override
    public void audit(Partition partition, Audit audit, Runnable then) {
        Slices.visit(
                context.environment(),
                "auditing a lock",
                resourcesAt(partition.number).iterator(),
                resource -> resource.audit(audit),
                then);
    }

    private void each(Partition partition, String what, Consumer<LocalSynchronizer> action) {
        for (LocalSynchronizer resource : resourcesAt(partition.number)) {
            Failsafe.run(what, () -> action.accept(resource));
        }
    }
}
