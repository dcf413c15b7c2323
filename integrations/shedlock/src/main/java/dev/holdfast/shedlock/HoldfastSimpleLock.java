package dev.holdfast.shedlock;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.task.TaskHold;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lock held by a task, until it is unlocked or extended. Thread-safe. */
final class HoldfastSimpleLock implements SimpleLock {

    private static final Logger log = LoggerFactory.getLogger(HoldfastSimpleLock.class);

    private final String name;
    private final TaskHold hold;

    /** Guarded by this, which also keeps an extension and the end apart. */
    private boolean isOver;

    HoldfastSimpleLock(String name, TaskHold hold) {
        this.name = name;
        this.hold = hold;
    }

    @Override
    public synchronized void unlock() {
        requireValid();
        isOver = true;
        try {
            hold.close();
        } catch (LockLostException e) {
            // The task has ended and releases nothing of others: as with any provider, its result stands.
            log.warn("Lock '{}' was lost before its task ended: {}", name, e.getMessage());
        }
    }

    /**
     * Extends the lock. If the store does not reply, this lock stays valid, until the earlier of both ends.
     *
     * @throws LockException if the store did not reply
     */
    @Override
    public synchronized Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
        requireValid();
        try {
            hold.extend(HoldfastLockProvider.options(checked(lockAtMostFor, lockAtLeastFor), lockAtLeastFor));
        } catch (LockLostException e) {
            isOver = true;
            var unused = hold.releaseAsync();
            return Optional.empty();
        } catch (HoldfastException | ClientClosedException e) {
            throw new LockException("Lock '" + name + "' could not be extended: " + e.getMessage(), e);
        }
        isOver = true;
        return Optional.of(new HoldfastSimpleLock(name, hold));
    }

    /** Repeats ShedLock's checks of a configuration, with its messages. */
    private Duration checked(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.EPOCH, name, atMost, atLeast).getLockAtMostFor();
    }

    private void requireValid() {
        if (isOver) {
            throw new IllegalStateException("Lock '" + name + "' was already unlocked or extended");
        }
    }
}
