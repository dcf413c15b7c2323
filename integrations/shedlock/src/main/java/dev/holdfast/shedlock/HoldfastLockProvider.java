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
 * machines have no effect. The lock hangs on no process, is not renewed, and belongs to no thread; who has it and asks
 * again is refused. Wrap this provider in ShedLock's {@code KeepAliveLockProvider} to have it renewed.
 *
 * <p>Where Holdfast knows better than an empty answer, it says so: {@link LockException} if the store does not answer
 * or refuses this client, so that a task never stops in silence because its store is gone.
 *
 * <p><b>Thread-safety:</b> immutable, may be shared. The client is the caller's, and is not closed.
 */
public final class HoldfastLockProvider implements ExtensibleLockProvider {

    /** What stands before the names of locks unless another prefix is given. */
    public static final String DEFAULT_PREFIX = "shedlock:";

    /** The shortest lease of Holdfast. A lock that lasts a little longer than it must is still a lock. */
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
     * @param prefix what stands before the name of each lock: of an application or a tenant, for instance. With an
     *     empty one, a lock of ShedLock and a {@linkplain Holdfast#task task} of Holdfast with the same name keep each
     *     other out
     */
    public HoldfastLockProvider(Holdfast holdfast, String prefix) {
        this.holdfast = Objects.requireNonNull(holdfast, "holdfast");
        this.prefix = Objects.requireNonNull(prefix, "prefix");
    }

    /**
     * Acquires a lock without waiting.
     *
     * <p><b>Blocking:</b> for the store's answer, at most for the store time-out. <b>Interruption:</b> has no effect.
     *
     * @return the lock, or empty if somebody has it, this caller included, or its least time is not over
     * @throws LockException if the store did not answer or refuses this client, the name is in use as something else,
     *     or the client was closed
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
                    "Lock '" + configuration.getName() + "' could not be asked for: " + e.getMessage(), e);
        }
        return hold.map(granted -> new HoldfastSimpleLock(configuration.getName(), granted));
    }

    /** ShedLock checks that the greatest time is not negative, and no less than the least. */
    static TaskOptions options(Duration atMost, Duration atLeast) {
        Duration most = atMost.compareTo(SHORTEST) < 0 ? SHORTEST : atMost;
        return TaskOptions.atMost(most).withAtLeast(atLeast.isNegative() ? Duration.ZERO : atLeast);
    }

    @Override
    public String toString() {
        return "HoldfastLockProvider[" + holdfast + ", prefix '" + prefix + "']";
    }
}
