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

/** One part of a multi-lock: a resource, and how much of it is requested. Immutable. */
public interface MultiLockMember {

    /** The resources of its client. */
    LocalResources resources();

    /** The name that is requested, which decides the order. */
    ResourceName resource();

    /** Whether the calling thread has a hold of it in any mode, even a lost one. */
    boolean isHeldByCaller();

    /** Tries once; an interrupt has no effect. */
    Optional<Hold> tryAcquire();

    /** Waits as long as the options say. */
    Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** As {@link Acquirer#enterForEngine}: never blocks, and is not re-entrant. */
    CompletableFuture<Hold> acquireForEngine(AcquireOptions options);

    /**
     * Combines this part with another one of the same resource.
     *
     * @throws IllegalArgumentException if they can't be combined
     */
    default MultiLockMember with(MultiLockMember other) {
        throw new IllegalArgumentException(
                "'" + resource() + "' is listed twice: a multi-lock can contain a resource only once");
    }

    /**
     * The part for an object that a user passed.
     *
     * @throws IllegalArgumentException if no Holdfast client has made it
     */
    static MultiLockMember of(Lockable lockable) {
        if (lockable instanceof EngineLock lock) {
            return new OfLock(lock);
        }
        if (lockable instanceof SemaphorePermits permits) {
            return new OfPermits(permits);
        }
        throw new IllegalArgumentException("A part of a multi-lock must be created by a Holdfast client, but '"
                + ResourceName.printable(lockable.name()) + "' is a "
                + lockable.getClass().getName());
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
            // Either side of a read-write lock counts.
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
            // Permits belong to no thread.
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
                throw new IllegalArgumentException("'" + resource()
                        + "' is listed twice, as different kinds: a multi-lock can contain a " + "resource only once");
            }
            return new OfPermits(permits.with(more.permits));
        }
    }
}
