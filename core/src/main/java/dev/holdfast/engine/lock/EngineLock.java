package dev.holdfast.engine.lock;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockedTask;
import dev.holdfast.NotOwnerException;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalResource;
import dev.holdfast.engine.local.TaskWhileHeld;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The mutex of one name, or one side of its read-write lock: turns calls into requests at the resource. Immutable but
 * for a hint.
 */
public final class EngineLock implements DistributedLock {

    // A program may have a hundred thousand of these: what the door knows is not kept twice.
    private final Acquirer acquirer;

    /** The resource that was used last; may be gone. Spares the look-up. */
    private @Nullable LocalResource lastResource;

    public EngineLock(Acquirer acquirer) {
        this.acquirer = acquirer;
    }

    /** The way to its requests. */
    public Acquirer acquirer() {
        return acquirer;
    }

    private ResourceName resource() {
        return acquirer.name();
    }

    private ResourceSpec spec() {
        return acquirer.mode().spec();
    }

    @Override
    public String name() {
        return resource().value();
    }

    // ---- Acquiring with a handle

    @Override
    public Hold acquire() throws InterruptedException {
        return acquireOrTimeOut(AcquireTerms.FOREVER);
    }

    @Override
    public Hold acquire(Duration maxWait) throws InterruptedException {
        return acquireOrTimeOut(AcquireTerms.within(TotalWait.nanos(maxWait)));
    }

    @Override
    public Hold acquire(AcquireOptions options) throws InterruptedException {
        return acquireOrTimeOut(AcquireTerms.of(options));
    }

    private Hold acquireOrTimeOut(AcquireTerms terms) throws InterruptedException {
        LocalHold mine = enterAgain(terms.lease(), true);
        if (mine != null) {
            return new NestedHold(mine, isWriteSide());
        }
        LocalHold hold = acquirer.awaitOrTimeOut(this, terms, true);
        lastResource = hold.resource;
        return hold;
    }

    @Override
    public Optional<Hold> tryAcquire() {
        try {
            return Optional.ofNullable(acquireOrNull(AcquireTerms.TRY, false));
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public Optional<Hold> tryAcquire(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(acquireOrNull(AcquireTerms.within(TotalWait.nanos(maxWait)), true));
    }

    @Override
    public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
        return Optional.ofNullable(acquireOrNull(AcquireTerms.of(options), true));
    }

    private @Nullable Hold acquireOrNull(AcquireTerms terms, boolean isInterruptible) throws InterruptedException {
        LocalHold mine = enterAgain(terms.lease(), isInterruptible);
        if (mine != null) {
            return new NestedHold(mine, isWriteSide());
        }
        return await(terms, isInterruptible);
    }

    // ---- Acquiring for the thread

    @Override
    public void lock() {
        try {
            if (enterAgain(Lease.SESSION, false) == null) {
                await(AcquireTerms.FOREVER, false);
            }
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (enterAgain(Lease.SESSION, true) == null) {
            await(AcquireTerms.FOREVER, true);
        }
    }

    @Override
    public boolean tryLock() {
        try {
            return enterAgain(Lease.SESSION, false) != null || await(AcquireTerms.TRY, false) != null;
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long waitNanos = Math.min(Math.max(unit.toNanos(time), 0), TotalWait.FOREVER);
        return enterAgain(Lease.SESSION, true) != null || await(AcquireTerms.within(waitNanos), true) != null;
    }

    @Override
    public void unlock() {
        LocalHold mine = holdOfCaller();
        if (mine == null || countOf(mine) == 0) {
            throw new NotOwnerException(
                    name(),
                    "Lock '" + resource() + "' is not held by the thread '"
                            + Thread.currentThread().getName() + "', so it can't release it");
        }
        mine.finish(mine.letGo(CallerMode.BLOCKING, isWriteSide()));
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A lock that holds across processes has no conditions");
    }

    @Override
    public boolean isHeldByCurrentThread() {
        LocalResource local = local();
        LocalHold live = local == null ? null : local.liveHoldOf(Thread.currentThread());
        return live != null && countOf(live) > 0 && live.isLive();
    }

    @Override
    public int holdCount() {
        LocalHold mine = holdOfCaller();
        return mine == null ? 0 : countOf(mine);
    }

    /** How often a hold of the calling thread was acquired on this side. */
    private int countOf(LocalHold mine) {
        return isWriteSide() ? mine.writeDepth() : mine.shareDepth();
    }

    private boolean isWriteSide() {
        return spec().kind() == Kind.READ_WRITE && !acquirer.mode().isShare();
    }

    // ---- The paths behind

    private @Nullable LocalResource local() {
        LocalResource last = lastResource;
        if (last != null && last.current != null) {
            return last;
        }
        LocalResource present = acquirer.resources().resource(resource());
        lastResource = present;
        return present;
    }

    private @Nullable LocalHold holdOfCaller() {
        LocalResource local = local();
        return local == null ? null : local.holdOf(Thread.currentThread());
    }

    /** Counts one more acquisition if the calling thread holds this lock; null if it does not. */
    private @Nullable LocalHold enterAgain(Lease lease, boolean isInterruptible) throws InterruptedException {
        if (isInterruptible && Thread.interrupted()) {
            throw new InterruptedException("interrupted before asking for lock '" + resource() + "'");
        }
        LocalResource local = local();
        LocalHold mine = local == null ? null : local.liveHoldOf(Thread.currentThread());
        if (mine == null) {
            return null;
        }
        if (!mine.resource.spec.equals(spec())) {
            throw acquirer.resources().usedOtherwise(mine.resource);
        }
        if (isWriteSide() && mine.writeDepth() == 0) {
            throw new IllegalStateException("Lock '" + resource()
                    + "' is held for reading by this thread: it can't become a write hold, for two readers that both"
                    + " want to write would wait for each other. Release the read hold first.");
        }
        if (lease.binding() != Lease.Binding.SESSION) {
            throw new IllegalStateException("Lock '" + resource()
                    + "' is held by this thread already: a nested acquire can't change its lease");
        }
        if (!mine.isLive()) {
            if (isInterruptible) {
                mine.awaitCertainty();
            } else {
                mine.awaitCertaintyUninterruptibly();
            }
        }
        mine.enterAgain(isWriteSide());
        return mine;
    }

    private @Nullable LocalHold await(AcquireTerms terms, boolean isInterruptible) throws InterruptedException {
        LocalHold hold = acquirer.await(this, terms, isInterruptible);
        if (hold != null) {
            lastResource = hold.resource;
        }
        return hold;
    }

    @Override
    public CompletionStage<Hold> acquireAsync() {
        return acquireAsync(AcquireOptions.defaults());
    }

    @Override
    public CompletionStage<Hold> acquireAsync(AcquireOptions options) {
        return acquirer.enter(AcquireTerms.of(options));
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T callWhileHeld(
            AcquireOptions options, LockedTask<T, E> task) throws E, InterruptedException {
        Objects.requireNonNull(task, "task");
        return TaskWhileHeld.run(HoldHandle.of(acquire(options)), task);
    }

    @Override
    public <T extends @Nullable Object> CompletionStage<T> runWhileHeldAsync(
            AcquireOptions options, Function<? super Hold, ? extends CompletionStage<T>> task) {
        Objects.requireNonNull(task, "task");
        return new StageWhileHeld<T>(acquirer.resources().context, task)
                .begin(acquireAsync(options).toCompletableFuture());
    }

    @Override
    public String toString() {
        return "DistributedLock[" + resource() + ", "
                + acquirer.resources().context.product() + "]";
    }
}
