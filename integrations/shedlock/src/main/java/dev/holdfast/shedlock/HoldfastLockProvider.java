package dev.holdfast.shedlock;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * A lock provider of ShedLock on a lock store of Holdfast.
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(Holdfast holdfast) {
 *     return new HoldfastLockProvider(holdfast);
 * }
 * }</pre>
 *
 * <p>Each lock is a {@linkplain Holdfast#task scheduled task} of Holdfast, whose name is that of the lock with a
 * prefix. {@code lockAtMostFor} and {@code lockAtLeastFor} are counted from the grant, by the store's clock: clocks of
 * machines have no effect. The lock outlives its process, is not renewed, belongs to no thread, and is not re-entrant.
 * Wrap this provider in ShedLock's {@code KeepAliveLockProvider} for renewal.
 *
 * <p>If the store does not reply or refuses this client, {@link LockException} is thrown instead of an empty result, so
 * that no task silently stops running because of its store.
 *
 * <p><b>Thread-safety:</b> immutable, may be shared. The client is the caller's, and is not closed.
 */
public final class HoldfastLockProvider implements ExtensibleLockProvider {

    /** The default prefix of the names of locks. */
    public static final String DEFAULT_PREFIX = "shedlock:";

    /** The shortest lease of Holdfast. A lock may last a little longer than requested. */
    private static final Duration SHORTEST = Duration.ofMillis(200);

    private final Holdfast holdfast;
    private final String prefix;

    /** A provider whose locks have names that begin with {@value #DEFAULT_PREFIX}, apart from all other names. */
    public HoldfastLockProvider(Holdfast holdfast) {
        this(holdfast, DEFAULT_PREFIX);
    }

    /**
     * A provider whose locks have names with a prefix.
     *
     * @param prefix the prefix of each lock's name, for example of an application or a tenant. With an empty one, a
     *     lock of ShedLock and a {@linkplain Holdfast#task task} of Holdfast with the same name exclude each other
     */
    public HoldfastLockProvider(Holdfast holdfast, String prefix) {
        this.holdfast = Objects.requireNonNull(holdfast, "holdfast");
        this.prefix = Objects.requireNonNull(prefix, "prefix");
    }

    /**
     * Acquires a lock without waiting.
     *
     * <p><b>Blocking:</b> for the store's reply, at most for the store time-out. <b>Interruption:</b> has no effect.
     *
     * @return the lock, or empty if it has a holder, such as this caller, or its least time has not passed
     * @throws LockException if the store did not reply or refuses this client, the name is used by another kind of
     *     lock, or the client was closed
     * @throws IllegalArgumentException if prefix and name have more than 512 bytes of UTF-8, or the name is blank
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        TaskOptions options = options(configuration.getLockAtMostFor(), configuration.getLockAtLeastFor());
        Optional<TaskHold> hold;
        try {
            hold = holdfast.task(prefix + configuration.getName()).tryBegin(options);
        } catch (HoldfastException | ClientClosedException e) {
            throw new LockException(
                    "Lock '" + configuration.getName() + "' could not be requested: " + e.getMessage(), e);
        }
        return hold.map(granted -> new HoldfastSimpleLock(configuration.getName(), granted));
    }

    /** ShedLock checks that the longest time is not negative, and not shorter than the least time. */
    static TaskOptions options(Duration atMost, Duration atLeast) {
        Duration most = atMost.compareTo(SHORTEST) < 0 ? SHORTEST : atMost;
        return TaskOptions.atMost(most).withAtLeast(atLeast.isNegative() ? Duration.ZERO : atLeast);
    }

    @Override
    public String toString() {
        return "HoldfastLockProvider[" + holdfast + ", prefix '" + prefix + "']";
    }
}
