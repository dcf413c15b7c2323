package dev.holdfast.engine;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** One resource of a multi-lock, and as much of it as is asked for. Immutable. */
interface Part {

    /** What is asked for; decides the order. */
    ResourceName resource();

    /** Whether the calling thread has a hold of it, good or lost, in whatever mode. */
    boolean isHeldByCaller();

    /** A single attempt that an interrupt does not end. */
    Optional<Hold> tryAcquire();

    /** Waits as long as the options say. */
    Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** Never blocks, and is not re-entrant. */
    CompletionStage<Hold> acquireAsync(AcquireOptions options);

    /** A lock as a part. */
    record OfLock(ResourceName resource, DistributedLock lock) implements Part {

        @Override
        public boolean isHeldByCaller() {
            return lock.holdCount() > 0;
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
        public CompletionStage<Hold> acquireAsync(AcquireOptions options) {
            return lock.acquireAsync(options);
        }
    }
}
