package dev.holdfast.engine;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Lockable;
import dev.holdfast.MultiLock;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.engine.barrier.EngineBarrier;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.election.Elections;
import dev.holdfast.engine.election.EngineElection;
import dev.holdfast.engine.latch.EngineLatch;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LeaseExtension;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.lock.EngineLock;
import dev.holdfast.engine.lock.EngineReadWriteLock;
import dev.holdfast.engine.multi.EngineMultiLock;
import dev.holdfast.engine.multi.MultiLockMember;
import dev.holdfast.engine.semaphore.EngineSemaphore;
import dev.holdfast.engine.session.Partitions;
import dev.holdfast.engine.task.EngineTaskLock;
import dev.holdfast.engine.task.LeftLeases;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.task.ScheduledTaskLock;
import java.util.Collection;

/** Makes the locks and other primitives of one client. Thread-safe. */
public final class Primitives {
    final LocalResources local;
    final Elections elections;
    final LeftLeases tasks;
    private final ClientContext context;

    Primitives(Partitions partitions) {
        context = partitions.context;
        local = new LocalResources(partitions);
        elections = new Elections(context);
        tasks = new LeftLeases(context);
    }

    /** The client is closed. */
    void shut() {
        elections.shut();
    }

    /** The lock of a name. */
    public DistributedLock lock(ResourceName name, Order order) {
        requireOrder(order);
        return new EngineLock(new Acquirer(local, name, order == Order.FAIR ? Mode.FAIR_MUTEX : Mode.BARGING_MUTEX));
    }

    /** The read-write lock of a name. */
    public DistributedReadWriteLock readWriteLock(ResourceName name, Order order) {
        requireOrder(order);
        requireAdmission(StoreTraits.Admission.SHARED, "read-write locks");
        return new EngineReadWriteLock(local, name, new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, order));
    }

    /** The semaphore of a name. */
    public DistributedSemaphore semaphore(ResourceName name, int permits, Order order) {
        requireOrder(order);
        if (permits < 1) {
            throw new IllegalArgumentException("A semaphore must have at least one permit, not " + permits);
        }
        requireAdmission(StoreTraits.Admission.COUNTED, "semaphores");
        return new EngineSemaphore(local, name, new ResourceSpec(Kind.SEMAPHORE, permits, order));
    }

    private void requireOrder(Order order) {
        context.requireOpen();
        if (order == Order.BARGING && !context.traits().has(Feature.BARGING)) {
            throw new IllegalArgumentException("The store " + context.product()
                    + " grants locks strictly in queue order and doesn't support barging locks");
        }
    }

    private void requireAdmission(StoreTraits.Admission admission, String what) {
        if (!context.traits().admissions().contains(admission)) {
            throw new IllegalArgumentException("The store " + context.product() + " doesn't support " + what);
        }
    }

    /** Locks and permits of this client, to be acquired together. */
    public MultiLock lockAll(Collection<? extends Lockable> parts) {
        context.requireOpen();
        return new EngineMultiLock(
                local, parts.stream().map(MultiLockMember::of).toList());
    }

    /** The count-down latch of a name. */
    public DistributedCountDownLatch latch(ResourceName name) {
        context.requireOpen();
        requireAdmission(StoreTraits.Admission.LATCH, "latches");
        return new EngineLatch(local, name);
    }

    /** The election of a name. */
    public LeaderElection election(ResourceName name) {
        context.requireOpen();
        return new EngineElection(local, elections, name);
    }

    /** The guard of a job. */
    public ScheduledTaskLock task(ResourceName name) {
        local.requireSupported(Lease.detached(LeaseExtension.SHORTEST), name);
        return new EngineTaskLock(local, tasks, name);
    }

    /** The double barrier of a name. */
    public DistributedDoubleBarrier barrier(ResourceName name, int parties) {
        context.requireOpen();
        if (parties < 1) {
            throw new IllegalArgumentException("A barrier must have at least one party, not " + parties);
        }
        requireAdmission(StoreTraits.Admission.COUNTED, "semaphores, which barriers need");
        requireAdmission(StoreTraits.Admission.LATCH, "latches, which barriers need");
        if (context.traits().fixedLease() == StoreTraits.FixedLease.NONE) {
            throw new IllegalArgumentException(
                    "The store " + context.product() + " doesn't support fixed leases, which barriers need");
        }
        return new EngineBarrier(local, name, parties);
    }
}
