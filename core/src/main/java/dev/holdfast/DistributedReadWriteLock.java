package dev.holdfast;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A read-write lock with a name, shared by all processes that use the same store: many readers, or one writer.
 *
 * <pre>{@code
 * DistributedReadWriteLock catalogue = holdfast.readWriteLock("catalogue");
 * try (Hold read = catalogue.readLock().acquire()) {
 *     return render(load());
 * }
 * }</pre>
 *
 * <p>Each side is a {@link DistributedLock} with all of its guarantees. The following rules apply to both sides
 * together.
 *
 * <p><b>Sharing.</b> The readers of one process share one grant, and hand it over in memory. A process that holds the
 * write side hands it over to its own readers too, until its {@linkplain Holdfast.Builder#cohortBudget(Duration) cohort
 * budget} is spent and others wait.
 *
 * <p><b>No starvation.</b> A waiting writer is served before readers that come after it, in its own process and in
 * others: between processes at once, inside a process after a time slice of at most a millisecond, in which readers are
 * still served first.
 *
 * <p><b>Re-entrancy.</b> A thread that holds a side may acquire it again. A thread that holds the write side may
 * acquire the read side too; if it then releases the write side it keeps reading (a <em>downgrade</em>), with no writer
 * in between. The reverse fails at once with {@link IllegalStateException}: two readers that both wanted to write would
 * deadlock. This applies to holds that belong to the thread. A hold of {@link DistributedLock#acquireAsync()} belongs
 * to itself, and waits even for holds of its caller.
 *
 * <p><b>Tokens.</b> Every write hold has a greater token than all holds before it. A read hold has the highest token
 * that was issued before it under its grant, which shows what write it may have seen. Read tokens don't order readers,
 * and a downgraded hold keeps the writer's token.
 *
 * <p><b>Thread-safety:</b> immutable and may be shared; two locks of one client and name are the same lock.
 */
public interface DistributedReadWriteLock extends ReadWriteLock {

    /** The name of the resource. */
    String name();

    /** The shared side. */
    @Override
    DistributedLock readLock();

    /**
     * The exclusive side.
     *
     * <p>Acquiring it throws {@link IllegalStateException} if the calling thread holds the read side only; nothing
     * changes then.
     */
    @Override
    DistributedLock writeLock();
}
