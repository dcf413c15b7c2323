package dev.holdfast.cli.run;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.util.Optional;

/** A lock of any kind that a command waits for. */
interface Acquirable {

    /** Tries once, without waiting. */
    Optional<? extends Hold> tryAcquire();

    /** Waits; empty if others kept the lock for all of the wait. */
    Optional<? extends Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** The lock of a name; sends nothing to the store. */
    static Acquirable of(Holdfast client, String name, Share share) {
        return switch (share.kind()) {
            case ALONE -> new Lock(client.lock(name));
            case SHARED -> new Lock(client.readWriteLock(name).readLock());
            case EXCLUSIVE -> new Lock(client.readWriteLock(name).writeLock());
            case PERMITS -> new Some(client.semaphore(name, share.total()), share.permits());
        };
    }

    /** A lock, or one side of a read-write lock. */
    record Lock(DistributedLock lock) implements Acquirable {

        @Override
        public Optional<Hold> tryAcquire() {
            return lock.tryAcquire();
        }

        @Override
        public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
            return lock.tryAcquire(options);
        }
    }

    /** Some permits of a semaphore. */
    record Some(DistributedSemaphore semaphore, int permits) implements Acquirable {

        @Override
        public Optional<? extends Hold> tryAcquire() {
            return semaphore.tryAcquire(permits);
        }

        @Override
        public Optional<? extends Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
            return semaphore.tryAcquire(permits, options);
        }
    }
}
