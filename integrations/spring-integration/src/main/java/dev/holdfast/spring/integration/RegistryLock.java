package dev.holdfast.spring.integration;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.NotOwnerException;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock of Holdfast with the exceptions that Spring Integration expects. It has no state: the client knows what each
 * thread holds. Thread-safe.
 */
final class RegistryLock implements DistributedLock {

    /** The shortest lease of Holdfast. A lock may last a little longer than requested. */
    private static final Duration SHORTEST = Duration.ofMillis(200);

    private final String key;
    private final dev.holdfast.DistributedLock lock;

    RegistryLock(String key, dev.holdfast.DistributedLock lock) {
        this.key = key;
        this.lock = lock;
    }

    // ---- Acquiring

    @Override
    public void lock() {
        try {
            lock.lock();
        } catch (HoldfastException | ClientClosedException e) {
            throw notAcquired(e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        try {
            lock.lockInterruptibly();
        } catch (HoldfastException | ClientClosedException e) {
            throw notAcquired(e);
        }
    }

    @Override
    public boolean tryLock() {
        try {
            return lock.tryLock();
        } catch (LockLostException e) {
            return giveUpWhatIsLost();
        } catch (HoldfastException | ClientClosedException e) {
            throw notAcquired(e);
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        try {
            return lock.tryLock(time, unit);
        } catch (LockLostException e) {
            return giveUpWhatIsLost();
        } catch (HoldfastException | ClientClosedException e) {
            throw notAcquired(e);
        }
    }

    /**
     * Acquires with a fixed lease of at least {@link #SHORTEST}. If the thread already holds the lock with a fixed
     * lease, sets its rest.
     */
    @Override
    public void lock(Duration ttl) {
        AcquireOptions options = AcquireOptions.defaults().withFixedLease(lease(ttl));
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    acquire(options, ttl);
                    return;
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                } catch (HoldfastException | ClientClosedException e) {
                    throw notAcquired(e);
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        Duration wait = waitTime.isNegative() ? Duration.ZERO : waitTime;
        AcquireOptions options = AcquireOptions.defaults().withMaxWait(wait).withFixedLease(lease(ttl));
        try {
            return lock.holdCount() > 0
                    ? reacquire(ttl)
                    : lock.tryAcquire(options).isPresent();
        } catch (LockLostException e) {
            return giveUpWhatIsLost();
        } catch (HoldfastException | ClientClosedException e) {
            throw notAcquired(e);
        }
    }

    private void acquire(AcquireOptions options, Duration ttl) throws InterruptedException {
        if (lock.holdCount() > 0) {
            var unused = reacquire(ttl);
        } else {
            var unused = lock.acquire(options); // kept by the thread until it unlocks
        }
    }

    /** A re-entrant acquisition. */
    private boolean reacquire(Duration ttl) {
        Hold again =
                lock.tryAcquire().orElseThrow(() -> new IllegalStateException("the current thread no longer holds it"));
        try {
            extend(again, ttl);
        } catch (RuntimeException e) {
            again.close();
            throw e;
        }
        return true;
    }

    /**
     * Handles a re-entrant acquisition after a loss: the result reports the loss, and the hold ends. The next attempt
     * is a new acquisition, so that a holder in between is noticed.
     */
    private boolean giveUpWhatIsLost() {
        while (lock.holdCount() > 0) {
            try {
                lock.unlock();
            } catch (HoldfastException e) {
                // Each release reports the loss.
            }
        }
        return false;
    }

    private CannotAcquireLockException notAcquired(RuntimeException e) {
        return new CannotAcquireLockException("Failed to lock '" + key + "': " + e.getMessage(), e);
    }

    // ---- Holding

    /** Sets the rest of the lease of a hold of the current thread. */
    void renew(Function<Hold, Duration> lease) {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("Could not renew lock '" + key + "': the current thread does not hold it");
        }
        try (Hold again = lock.tryAcquire().orElseThrow()) {
            extend(again, lease.apply(again));
        } catch (LockLostException e) {
            throw new IllegalStateException("Could not renew lock '" + key + "': " + e.getMessage(), e);
        } catch (HoldfastException e) {
            throw new DataAccessResourceFailureException("Failed to renew lock '" + key + "': " + e.getMessage(), e);
        }
    }

    private static Duration lease(Duration ttl) {
        return ttl.compareTo(SHORTEST) < 0 ? SHORTEST : ttl;
    }

    private static void extend(Hold hold, Duration lease) {
        try {
            hold.extend(lease(lease));
        } catch (IllegalStateException e) {
            hold.ensureHeld(); // it has no fixed lease, and is renewed by the client
        }
    }

    @Override
    public void unlock() {
        try {
            lock.unlock();
        } catch (LockLostException e) {
            throw new ConcurrentModificationException(
                    "Lock '" + key + "' was lost before it was unlocked. What it protects may have been changed by"
                            + " others. "
                            + e.getMessage(),
                    e);
        } catch (HoldfastException e) {
            throw new DataAccessResourceFailureException("Failed to release lock '" + key + "': " + e.getMessage(), e);
        } catch (NotOwnerException e) {
            IllegalMonitorStateException thrown = new IllegalMonitorStateException("You do not own lock at " + key);
            thrown.initCause(e);
            throw thrown;
        }
    }

    @Override
    public Condition newCondition() {
        return lock.newCondition();
    }

    @Override
    public String toString() {
        return "RegistryLock[" + lock + "]";
    }
}
