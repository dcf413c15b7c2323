package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Lockable;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.LocalSynchronizer;
import dev.holdfast.engine.lock.EngineLock;
import dev.holdfast.engine.semaphore.SemaphorePermits;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One resource of a multi-lock, and as much of it as is asked for. Immutable. */
public interface MultiLockMember {

    /** Whose it is. */
    LocalResources resources();

    /** What is asked for; decides the order. */
    ResourceName resource();

    /** Whether the calling thread has a hold of it, good or lost, in whatever mode. */
    boolean isHeldByCaller();

    /** A single attempt that an interrupt does not end. */
    Optional<Hold> tryAcquire();

    /** Waits as long as the options say. */
    Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** As of {@link Acquirer#enterForEngine}: never blocks, and is not re-entrant. */
    CompletableFuture<Hold> acquireForEngine(AcquireOptions options);

    /**
     * This part and another of the same resource as one.
     *
     * @throws IllegalArgumentException if they can't be one
     */
    default MultiLockMember with(MultiLockMember other) {
        throw new IllegalArgumentException(
                "'" + resource() + "' is named twice: a resource can be only one part of a multi-lock");
    }

    /**
     * The part that a user has in hand.
     *
     * @throws IllegalArgumentException if it is of somebody else's making
     */
    static MultiLockMember of(Lockable lockable) {
        if (lockable instanceof EngineLock lock) {
            return new OfLock(lock);
        }
        if (lockable instanceof SemaphorePermits permits) {
            return new OfPermits(permits);
        }
        throw new IllegalArgumentException("A part of a multi-lock must be what a Holdfast client has handed out, but '"
                + ResourceName.printable(lockable.name()) + "' is a " + lockable.getClass());
    }

    /** A lock, or one side of a read-write lock, as a part. */
    record OfLock(EngineLock lock) implements MultiLockMember {

        @Override
        public LocalResources resources() {
            return lock.acquirer().resources();
        }

        @Override
        public ResourceName resource() {
            return lock.acquirer().name();
        }

        @Override
        public boolean isHeldByCaller() {
            // Of a read-write lock either side counts.
            LocalSynchronizer resource = resources().resource(resource());
            return resource != null && resource.holdOf(Thread.currentThread()) != null;
        }

        @Override
        public Optional<Hold> tryAcquire() {
            return lock.tryAcquire();
        }

        @Override
        public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
            return lock.tryAcquire(options);
        }

        @Override
        public CompletableFuture<Hold> acquireForEngine(AcquireOptions options) {
            return lock.acquirer().enterForEngine(AcquireTerms.of(options));
        }
    }

    /** Permits of a semaphore as a part. */
    record OfPermits(SemaphorePermits permits) implements MultiLockMember {

        @Override
        public LocalResources resources() {
            return permits.resources();
        }

        @Override
        public ResourceName resource() {
            return permits.resource();
        }

        @Override
        public boolean isHeldByCaller() {
            // Permits belong to nobody but themselves.
            return false;
        }

        @Override
        public Optional<Hold> tryAcquire() {
            return permits.semaphore().tryAcquire(permits.permits()).map(Hold.class::cast);
        }

        @Override
        public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
            return permits.semaphore().tryAcquire(permits.permits(), options).map(Hold.class::cast);
        }

        @Override
        public CompletableFuture<Hold> acquireForEngine(AcquireOptions options) {
            return permits.acquirer().enterForEngine(AcquireTerms.of(options));
        }

        @Override
        public MultiLockMember with(MultiLockMember other) {
            if (!(other instanceof OfPermits more) || !more.permits.spec().equals(permits.spec())) {
                throw new IllegalArgumentException(
                        "'" + resource() + "' is named twice, as different things: a resource can be only one part");
            }
            return new OfPermits(permits.with(more.permits));
        }
    }
}
