package dev.holdfast.shedlock;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * The locks of two providers, held by one task. Each is unlocked even if the other fails. Thread-safe if both are.
 */
final class BothLocks implements SimpleLock {

    private final SimpleLock ofNew;

    /** Guarded by this. */
    private SimpleLock ofOld;

    BothLocks(SimpleLock ofNew, SimpleLock ofOld) {
        this.ofNew = ofNew;
        this.ofOld = ofOld;
    }

    @Override
    public synchronized void unlock() {
        try {
            ofOld.unlock();
        } catch (RuntimeException | Error e) {
            unlockAfter(e, ofNew);
            throw e;
        }
        ofNew.unlock();
    }

    /** Extends both or none: if one can't be extended, the other is unlocked. */
    @Override
    public synchronized Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
        Optional<SimpleLock> old = ofOld.extend(lockAtMostFor, lockAtLeastFor);
        if (old.isEmpty()) {
            ofNew.unlock();
            return Optional.empty();
        }
        ofOld = old.get(); // stored first, so that this still has both if the other fails
        Optional<SimpleLock> ours = ofNew.extend(lockAtMostFor, lockAtLeastFor);
        if (ours.isEmpty()) {
            ofOld.unlock();
            return Optional.empty();
        }
        return Optional.of(new BothLocks(ours.get(), ofOld));
    }

    static void unlockAfter(Throwable failure, SimpleLock lock) {
        try {
            lock.unlock();
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }
}
