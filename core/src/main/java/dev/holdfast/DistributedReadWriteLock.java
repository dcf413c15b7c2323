package dev.holdfast;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A read-write lock on one name, shared by every process that uses the same store: many readers, or one writer.
 *
 * <pre>{@code
 * DistributedReadWriteLock catalogue = holdfast.readWriteLock("catalogue");
 * try (Hold read = catalogue.readLock().acquire()) {
 *     return render(load());
 * }
 * }</pre>
 *
 * <p>Each side is a {@link DistributedLock} with all that it promises; what follows is what the two have to do with
 * each other.
 *
 * <p><b>Sharing.</b> The readers of one process share one grant, and pass it on in memory; a process that holds the
 * write side passes it on to its own readers too, until its
 * {@linkplain Holdfast.Builder#cohortBudget(Duration) cohort budget} is spent and others wait.
 *
 * <p><b>No starvation.</b> A writer that waits goes before readers that come after it, in its own process and in
 * others: between processes at once, inside a process after a turn of at most a millisecond, in which readers still
 * pass it.
 *
 * <p><b>Re-entrancy.</b> A thread that holds a side may acquire it again. A thread that holds the write side may
 * acquire the read side too; if it then releases the write side it keeps reading (a <em>downgrade</em>), with no writer
 * in between. The other way round is refused with {@link IllegalStateException}, at once and whatever the wait: two
 * readers that both wanted to write would wait for each other for ever. This holds for holds of the thread; {@link
 * DistributedLock#acquireAsync()} asks for a hold of its own, which waits for those of its own caller as for any other.
 *
 * <p><b>Tokens.</b> Every write hold has a greater token than all holds before it. A read hold carries the highest
 * token that was handed out before it under its grant, so that readers tell which write they may have seen; read tokens
 * don't order readers, and after a downgrade the writer's goes on.
 *
 * <p><b>Thread-safety:</b> immutable, may be shared; two of one client and name are the same lock.
 */
public interface DistributedReadWriteLock extends ReadWriteLock {

    /** The name of the resource. */
    String name();

    /** The side that others may hold at the same time. */
    @Override
    DistributedLock readLock();

    /**
     * The side that one owner holds alone.
     *
     * <p>Acquiring it throws {@link IllegalStateException} if the calling thread holds the read side only; nothing
     * changes then.
     */
    @Override
    DistributedLock writeLock();
}
