package dev.holdfast.engine.lock;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockedTask;
import dev.holdfast.NotOwnerException;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.HoldIssuer;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.Sharing;
import dev.holdfast.engine.local.StageWhileHeld;
import dev.holdfast.engine.local.TaskWhileHeld;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The mutex of one name, or one side of its read-write lock. Turns calls into requests. Immutable but for a cache. */
public final class EngineLock implements DistributedLock {

    // A program may have a hundred thousand locks: the acquirer's name and mode are not copied here.
    private final Acquirer acquirer;

    /** The resource that was used last, to spare a look-up; it may have been discarded since. */
    private @Nullable HoldIssuer lastResource;

    public EngineLock(Acquirer acquirer) {
        this.acquirer = acquirer;
    }

    /** Makes the requests of this lock. */
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
        LocalHold outer = enterAgain(terms);
        if (outer != null) {
            return new NestedHold(outer, sharing());
        }
        LocalHold hold = acquirer.awaitOrTimeOut(this, terms);
        lastResource = hold.issuer();
        return hold;
    }

    @Override
    public Optional<Hold> tryAcquire() {
        try {
            return Optional.ofNullable(acquireOrNull(AcquireTerms.TRY));
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public Optional<Hold> tryAcquire(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(acquireOrNull(AcquireTerms.within(TotalWait.nanos(maxWait))));
    }

    @Override
    public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
        return Optional.ofNullable(acquireOrNull(AcquireTerms.of(options)));
    }

    private @Nullable Hold acquireOrNull(AcquireTerms terms) throws InterruptedException {
        LocalHold outer = enterAgain(terms);
        if (outer != null) {
            return new NestedHold(outer, sharing());
        }
        return await(terms);
    }

    // ---- Acquiring for the thread

    @Override
    public void lock() {
        try {
            enterAgainOrAwait(AcquireTerms.FOREVER_UNINTERRUPTIBLY);
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        enterAgainOrAwait(AcquireTerms.FOREVER);
    }

    @Override
    public boolean tryLock() {
        try {
            return enterAgainOrAwait(AcquireTerms.TRY);
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long waitNanos = Math.min(Math.max(unit.toNanos(time), 0), TotalWait.FOREVER);
        return enterAgainOrAwait(AcquireTerms.within(waitNanos));
    }

    @Override
    public void unlock() {
        LocalHold hold = holdOfCaller();
        if (hold == null || hold.depth(sharing()) == 0) {
            throw new NotOwnerException(
                    name(),
                    "Lock '" + resource() + "' is not held by the thread '"
                            + Thread.currentThread().getName() + "', so that thread can't release it");
        }
        hold.finish(hold.letGo(CallerMode.BLOCKING, sharing()));
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock doesn't support conditions");
    }

    @Override
    public boolean isHeldByCurrentThread() {
        HoldIssuer local = local();
        LocalHold live = local == null ? null : local.liveHoldOf(Thread.currentThread());
        return live != null && live.depth(sharing()) > 0 && live.isLive();
    }

    @Override
    public int holdCount() {
        LocalHold hold = holdOfCaller();
        return hold == null ? 0 : hold.depth(sharing());
    }

    private Sharing sharing() {
        return acquirer.mode().sharing();
    }

    // ---- Implementation

    private @Nullable HoldIssuer local() {
        HoldIssuer last = lastResource;
        if (last != null && last.isHeldExclusively()) {
            return last;
        }
        HoldIssuer present = acquirer.resources().resource(resource());
        lastResource = present;
        return present;
    }

    private @Nullable LocalHold holdOfCaller() {
        HoldIssuer local = local();
        return local == null ? null : local.holdOf(Thread.currentThread());
    }

    /** Counts one more acquisition if the calling thread holds this lock; null if it does not. */
    private @Nullable LocalHold enterAgain(AcquireTerms terms) throws InterruptedException {
        if (terms.isInterruptible() && Thread.interrupted()) {
            throw new InterruptedException("interrupted before requesting lock '" + resource() + "'");
        }
        HoldIssuer local = local();
        LocalHold hold = local == null ? null : local.liveHoldOf(Thread.currentThread());
        if (hold == null) {
            return null;
        }
        if (!hold.resource().spec.equals(spec())) {
            throw acquirer.resources().usedOtherwise(hold.resource());
        }
        if (sharing() == Sharing.EXCLUSIVE && hold.depth(Sharing.EXCLUSIVE) == 0) {
            throw new IllegalStateException("Lock '" + resource()
                    + "' is held for reading by this thread and can't be upgraded to a write hold, "
                    + "because two readers that both upgrade would deadlock. Release the read hold "
                    + "first.");
        }
        if (terms.hasOwnLease()) {
            throw new IllegalStateException("Lock '" + resource()
                    + "' is already held by this thread: a nested acquire can't change its lease");
        }
        if (!hold.isLive()) {
            if (terms.isInterruptible()) {
                hold.awaitCertainty();
            } else {
                hold.awaitCertaintyUninterruptibly();
            }
        }
        hold.enterAgain(sharing());
        return hold;
    }

    /** Returns whether the calling thread has acquired the lock, again or for the first time. */
    @CanIgnoreReturnValue
    private boolean enterAgainOrAwait(AcquireTerms terms) throws InterruptedException {
        return enterAgain(terms) != null || await(terms) != null;
    }

    private @Nullable LocalHold await(AcquireTerms terms) throws InterruptedException {
        LocalHold hold = acquirer.await(this, terms);
        if (hold != null) {
            lastResource = hold.issuer();
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
        StageWhileHeld<T, T> run = new StageWhileHeld<>(task, Function.identity());
        CompletableFuture<Hold> asked = acquireAsync(options).toCompletableFuture();
        run.passCancellationTo(asked);
        var unused = asked.whenComplete((hold, failure) -> {
            if (hold instanceof LocalHold granted) {
                run.run(granted);
            } else {
                run.stage().completeExceptionally(Stages.causeOf(failure));
            }
        });
        return run.stage();
    }

    @Override
    public String toString() {
        return "DistributedLock[" + resource() + ", "
                + acquirer.resources().context.product() + "]";
    }
}
