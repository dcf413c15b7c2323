package dev.holdfast.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A lock provider that acquires the locks of two others, for a migration in which some instances of a program use the
 * old provider and some the new: a task runs under at most one of the locks at a time.
 *
 * <pre>{@code
 * new RollingLockProvider(new HoldfastLockProvider(holdfast), new JdbcTemplateLockProvider(dataSource))
 * }</pre>
 *
 * <p>Deploy this first, and the new provider alone when no instance uses only the old one.
 *
 * <p>The new lock is acquired first, without its least time, so that it is free at once if the old one is held; then it
 * is extended to the requested times. Neither acquisition waits, so there is no deadlock.
 *
 * <p>A lock can be extended if the old provider's can.
 *
 * <p><b>Thread-safety:</b> that of the two providers; both are the caller's.
 */
public final class RollingLockProvider implements ExtensibleLockProvider {

    private final ExtensibleLockProvider newProvider;
    private final LockProvider oldProvider;

    /**
     * Takes both locks.
     *
     * @param newProvider the provider to migrate to
     * @param oldProvider the provider to migrate from
     */
    public RollingLockProvider(ExtensibleLockProvider newProvider, LockProvider oldProvider) {
        this.newProvider = Objects.requireNonNull(newProvider, "newProvider");
        this.oldProvider = Objects.requireNonNull(oldProvider, "oldProvider");
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Optional<SimpleLock> first = newProvider.lock(withoutLeastTime(configuration));
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Optional<SimpleLock> second;
        try {
            second = oldProvider.lock(configuration);
        } catch (RuntimeException | Error e) {
            BothLocks.unlockAfter(e, first.get());
            throw e;
        }
        if (second.isEmpty()) {
            first.get().unlock();
            return Optional.empty();
        }
        return keep(first.get(), second.get(), configuration);
    }

    private static LockConfiguration withoutLeastTime(LockConfiguration asked) {
        return new LockConfiguration(ClockProvider.now(), asked.getName(), asked.getLockAtMostFor(), Duration.ZERO);
    }

    private static Optional<SimpleLock> keep(SimpleLock first, SimpleLock second, LockConfiguration configuration) {
        if (configuration.getLockAtLeastFor().isZero()) {
            return Optional.of(new BothLocks(first, second));
        }
        Optional<SimpleLock> kept;
        try {
            kept = first.extend(configuration.getLockAtMostFor(), configuration.getLockAtLeastFor());
        } catch (RuntimeException | Error e) {
            BothLocks.unlockAfter(e, second);
            BothLocks.unlockAfter(e, first);
            throw e;
        }
        if (kept.isEmpty()) {
            second.unlock();
            return Optional.empty();
        }
        return Optional.of(new BothLocks(kept.get(), second));
    }
}
