package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Lockable;
import dev.holdfast.engine.local.Door;
import dev.holdfast.engine.local.Gate;
import dev.holdfast.engine.local.LocalTier;
import dev.holdfast.engine.lock.EngineLock;
import dev.holdfast.engine.semaphore.SemaphorePermits;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One resource of a multi-lock, and as much of it as is asked for. Immutable. */
public interface Part {

    /** Whose it is. */
    LocalTier tier();

    /** What is asked for; decides the order. */
    ResourceName resource();

    /** Whether the calling thread has a hold of it, good or lost, in whatever mode. */
    boolean isHeldByCaller();

    /** A single attempt that an interrupt does not end. */
    Optional<Hold> tryAcquire();

    /** Waits as long as the options say. */
    Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** As of {@link Door#enterForEngine}: never blocks, and is not re-entrant. */
    CompletableFuture<Hold> acquireForEngine(AcquireOptions options);

    /**
     * This part and another of the same resource as one.
     *
     * @throws IllegalArgumentException if they can't be one
     */
    default Part with(Part other) {
        throw new IllegalArgumentException(
                "'" + resource() + "' is named twice: a resource can be only one part of a multi-lock");
    }

    /**
     * The part that a user has in hand.
     *
     * @throws IllegalArgumentException if it is of somebody else's making
     */
    static Part of(Lockable lockable) {
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
    record OfLock(EngineLock lock) implements Part {

        @Override
        public LocalTier tier() {
            return lock.door().tier();
        }

        @Override
        public ResourceName resource() {
            return lock.door().name();
        }

        @Override
        public boolean isHeldByCaller() {
            // Of a read-write lock either side counts.
            Gate gate = tier().gate(resource());
            return gate != null && gate.holdOf(Thread.currentThread()) != null;
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
            return lock.door().enterForEngine(options);
        }
    }

    /** Permits of a semaphore as a part. */
    record OfPermits(SemaphorePermits permits) implements Part {

        @Override
        public LocalTier tier() {
            return permits.tier();
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
            return permits.door().enterForEngine(options);
        }

        @Override
        public Part with(Part other) {
            if (!(other instanceof OfPermits more) || !more.permits.spec().equals(permits.spec())) {
                throw new IllegalArgumentException(
                        "'" + resource() + "' is named twice, as different things: a resource can be only one part");
            }
            return new OfPermits(permits.with(more.permits));
        }
    }
}
