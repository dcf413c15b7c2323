package dev.holdfast.cli.run;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.util.Optional;

/** What a command waits for, whatever kind of lock it is. */
interface Wanted {

    /** One attempt, without waiting. */
    Optional<? extends Hold> tryAcquire();

    /** Empty if others kept it for all of the time. */
    Optional<? extends Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** Finds it; this asks nothing of the store. */
    static Wanted of(Holdfast client, String name, Share share) {
        return switch (share.kind()) {
            case ALONE -> new Lock(client.lock(name));
            case SHARED -> new Lock(client.readWriteLock(name).readLock());
            case EXCLUSIVE -> new Lock(client.readWriteLock(name).writeLock());
            case PERMITS -> new Some(client.semaphore(name, share.of()), share.permits());
        };
    }

    /** A lock, or one side of a read-write lock. */
    record Lock(DistributedLock lock) implements Wanted {

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
    record Some(DistributedSemaphore semaphore, int permits) implements Wanted {

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
