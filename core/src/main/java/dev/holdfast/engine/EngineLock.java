package dev.holdfast.engine;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.LockedTask;
import dev.holdfast.NotOwnerException;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The mutex of one name: turns calls into requests at the gate. Immutable but for a hint. */
final class EngineLock implements DistributedLock {

    /** Longer waits are for ever; half of what a nanosecond clock can tell, so that comparison by subtraction holds. */
    private static final long FOREVER = Long.MAX_VALUE / 2;

    /**
     * How long the head of the queue sleeps between two looks during another's turn: about what the system needs to
     * wake a thread.
     */
    private static final long WATCH_NANOS = 50_000;

    private final Engine engine;
    private final ResourceName name;
    private final ResourceSpec spec;

    /** The gate that was used last; may be gone. Spares the look-up. */
    private @Nullable Gate lastGate;

    EngineLock(Engine engine, ResourceName name, ResourceSpec spec) {
        this.engine = engine;
        this.name = name;
        this.spec = spec;
    }

    @Override
    public String name() {
        return name.value();
    }

    // ---- Acquiring with a handle

    @Override
    public Hold acquire() throws InterruptedException {
        return acquireOrTimeOut(Lease.SESSION, false, FOREVER);
    }

    @Override
    public Hold acquire(Duration maxWait) throws InterruptedException {
        return acquireOrTimeOut(Lease.SESSION, false, nanos(maxWait));
    }

    @Override
    public Hold acquire(AcquireOptions options) throws InterruptedException {
        return acquireOrTimeOut(leaseOf(options), options.fixedLease().isPresent(), waitOf(options));
    }

    private Hold acquireOrTimeOut(Lease lease, boolean isExtendable, long waitNanos) throws InterruptedException {
        Hold hold = acquireOrNull(lease, isExtendable, waitNanos, true);
        if (hold == null) {
            throw new LockWaitTimeoutException(name.value(), engine.product(), Duration.ofNanos(waitNanos));
        }
        return hold;
    }

    @Override
    public Optional<Hold> tryAcquire() {
        try {
            return Optional.ofNullable(acquireOrNull(Lease.SESSION, false, 0, false));
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public Optional<Hold> tryAcquire(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(acquireOrNull(Lease.SESSION, false, nanos(maxWait), true));
    }

    @Override
    public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
        return Optional.ofNullable(
                acquireOrNull(leaseOf(options), options.fixedLease().isPresent(), waitOf(options), true));
    }

    private @Nullable Hold acquireOrNull(Lease lease, boolean isExtendable, long waitNanos, boolean isInterruptible)
            throws InterruptedException {
        LocalHold mine = enterAgain(lease, isInterruptible);
        if (mine != null) {
            return new NestedHold(mine);
        }
        return await(lease, isExtendable, waitNanos, isInterruptible);
    }

    // ---- Acquiring for the thread

    @Override
    public void lock() {
        try {
            if (enterAgain(Lease.SESSION, false) == null) {
                await(Lease.SESSION, false, FOREVER, false);
            }
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (enterAgain(Lease.SESSION, true) == null) {
            await(Lease.SESSION, false, FOREVER, true);
        }
    }

    @Override
    public boolean tryLock() {
        try {
            return enterAgain(Lease.SESSION, false) != null || await(Lease.SESSION, false, 0, false) != null;
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long waitNanos = Math.min(Math.max(unit.toNanos(time), 0), FOREVER);
        return enterAgain(Lease.SESSION, true) != null || await(Lease.SESSION, false, waitNanos, true) != null;
    }

    @Override
    public void unlock() {
        LocalHold mine = holdOfCaller();
        if (mine == null) {
            throw new NotOwnerException(
                    name.value(),
                    "Lock '" + name + "' is not held by the thread '"
                            + Thread.currentThread().getName() + "', so it can't release it");
        }
        engine.finish(mine, mine.letGo(Caller.WAITS));
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A lock that holds across processes has no conditions");
    }

    @Override
    public boolean isHeldByCurrentThread() {
        Gate gate = gate();
        LocalHold live = gate == null ? null : gate.current;
        return live != null && live.owner == Thread.currentThread() && live.isLive();
    }

    @Override
    public int holdCount() {
        LocalHold mine = holdOfCaller();
        return mine == null ? 0 : mine.depth;
    }

    // ---- The paths behind

    private @Nullable Gate gate() {
        Gate last = lastGate;
        if (last != null && last.current != null) {
            return last;
        }
        Gate present = engine.gate(name);
        lastGate = present;
        return present;
    }

    private @Nullable LocalHold holdOfCaller() {
        Gate gate = gate();
        return gate == null ? null : gate.holdOf(Thread.currentThread());
    }

    /** Counts one more acquisition if the calling thread holds this lock; null if it does not. */
    private @Nullable LocalHold enterAgain(Lease lease, boolean isInterruptible) throws InterruptedException {
        if (isInterruptible && Thread.interrupted()) {
            throw new InterruptedException("interrupted before asking for lock '" + name + "'");
        }
        Gate gate = gate();
        LocalHold mine = gate == null ? null : gate.current;
        if (mine == null || mine.owner != Thread.currentThread()) {
            return null;
        }
        if (!mine.gate.spec.equals(spec)) {
            throw engine.usedOtherwise(mine.gate);
        }
        if (lease.binding() != Lease.Binding.SESSION) {
            throw new IllegalStateException(
                    "Lock '" + name + "' is held by this thread already: a nested acquire can't change its lease");
        }
        if (!mine.isLive()) {
            if (isInterruptible) {
                engine.certainty.await(mine);
            } else {
                engine.certainty.awaitUninterruptibly(mine);
            }
        }
        if (mine.depth == Integer.MAX_VALUE) {
            throw new IllegalStateException("Lock '" + name + "' was acquired too often by this thread");
        }
        mine.depth++;
        return mine;
    }

    private @Nullable LocalHold await(Lease lease, boolean isExtendable, long waitNanos, boolean isInterruptible)
            throws InterruptedException {
        engine.requireSupported(lease, name);
        Request request = new Request(name, Thread.currentThread(), null, lease, isExtendable, waitNanos == 0);
        long deadline = engine.environment.monotonicNanos() + engine.limitOf(request, waitNanos);
        Gate gate = engine.enter(name, spec, request);
        lastGate = gate;
        boolean wasInterrupted = false;
        try {
            while (true) {
                boolean isInterrupted = Thread.interrupted();
                wasInterrupted |= isInterrupted;
                long left = deadline - engine.environment.monotonicNanos();
                // Looked at last: a lock that was waited for since then could have used up the wake-up that is meant
                // for the parking below.
                if (request.isDone()) {
                    break;
                }
                if (isInterrupted && isInterruptible) {
                    if (gate.cancel(request)) {
                        wasInterrupted = false;
                        throw new InterruptedException("interrupted while waiting for lock '" + name + "'");
                    }
                } else if (left <= 0) {
                    boolean wasUnanswered = request.isTry || gate.isUnanswered(request);
                    if (gate.cancel(request)) {
                        engine.failIfUnanswered(name, wasUnanswered);
                        return null;
                    }
                } else {
                    park(gate, request, deadline, left);
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        Supplier<RuntimeException> failure = request.failure();
        if (failure != null) {
            throw failure.get();
        }
        return request.hold();
    }

    private void park(Gate gate, Request request, long deadline, long left) {
        if (request.isWatching) {
            LockSupport.parkNanos(this, WATCH_NANOS);
            gate.look(request);
        } else if (left > FOREVER / 2) {
            LockSupport.park(this);
        } else {
            engine.environment.parkUntil(this, deadline);
        }
    }

    @Override
    public CompletionStage<Hold> acquireAsync() {
        return acquireAsync(AcquireOptions.defaults());
    }

    @Override
    public CompletionStage<Hold> acquireAsync(AcquireOptions options) {
        Lease lease = leaseOf(options);
        long waitNanos = waitOf(options);
        CompletableFuture<Hold> future = new CompletableFuture<>();
        Request request =
                new Request(name, null, future, lease, options.fixedLease().isPresent(), waitNanos == 0);
        try {
            engine.requireSupported(lease, name);
            engine.enterAsync(name, spec, request, future, waitNanos);
        } catch (RuntimeException e) {
            engine.callBack(() -> future.completeExceptionally(e));
        }
        return future;
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T runWhileHeld(LockedTask<T, E> task)
            throws E, InterruptedException {
        Hold hold = acquire();
        LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
        hold.onLost(interrupt);
        T result;
        try {
            result = task.run(hold);
        } catch (Throwable t) {
            interrupt.disarm();
            try {
                hold.close();
            } catch (LockLostException lost) {
                lost.addSuppressed(t);
                throw lost;
            } catch (RuntimeException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
        interrupt.disarm();
        hold.close();
        return result;
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + ", " + engine.product() + "]";
    }

    private static Lease leaseOf(AcquireOptions options) {
        return options.fixedLease().or(options::maxHold).map(Lease::bounded).orElse(Lease.SESSION);
    }

    private static long waitOf(AcquireOptions options) {
        return options.maxWait().map(EngineLock::nanos).orElse(FOREVER);
    }

    private static long nanos(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + wait);
        }
        return wait.toSeconds() >= FOREVER / 1_000_000_000 ? FOREVER : wait.toNanos();
    }
}
