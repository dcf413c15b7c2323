package dev.holdfast.engine;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Lockable;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One resource of a multi-lock, and as much of it as is asked for. Immutable. */
interface Part {

    /** Whose it is. */
    Engine engine();

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
            return lock.asPart();
        }
        if (lockable instanceof PermitsPart permits) {
            return permits;
        }
        throw new IllegalArgumentException("A part of a multi-lock must be what a Holdfast client has handed out, but '"
                + ResourceName.printable(lockable.name()) + "' is a " + lockable.getClass());
    }

    /** A lock, or one side of a read-write lock, as a part. */
    record OfLock(Engine engine, ResourceName resource, EngineLock lock) implements Part {

        @Override
        public boolean isHeldByCaller() {
            // Of a read-write lock either side counts.
            Gate gate = engine.gate(resource);
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
            return lock.acquireForEngine(options);
        }
    }
}
