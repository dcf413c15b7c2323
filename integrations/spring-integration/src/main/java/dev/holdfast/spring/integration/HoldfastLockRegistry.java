package dev.holdfast.spring.integration;

import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.Objects;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A lock registry of Spring Integration on a lock store of Holdfast.
 *
 * <pre>{@code
 * @Bean
 * LockRegistry<DistributedLock> lockRegistry(Holdfast holdfast) {
 *     return new HoldfastLockRegistry(holdfast);
 * }
 * }</pre>
 *
 * <p>The locks are those of {@link Holdfast#lock}, under the interface {@link DistributedLock} <em>of Spring
 * Integration</em>, which is not {@link dev.holdfast.DistributedLock}. They are fair, re-entrant for their thread, and
 * renewed by the client as long as they are held, without {@link #renewLock} or a task scheduler.
 *
 * <p><b>Loss.</b> After a loss, {@code unlock} throws {@link java.util.ConcurrentModificationException}, and {@code
 * tryLock} returns false once. So a caller that repeatedly acquires what it already has, like the leader initiator of
 * Spring Integration, notices the loss. Both end the hold.
 *
 * <p><b>Failures.</b> Acquiring throws {@link org.springframework.dao.CannotAcquireLockException} if the store does not
 * reply or refuses, unlocking {@link org.springframework.dao.DataAccessResourceFailureException} if it does not
 * confirm.
 *
 * <p>The object of a key stays the same as long as it is referenced. The registry itself keeps no references, so it
 * needs neither a capacity nor clearing.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. The client is the caller's, and is not closed.
 */
public final class HoldfastLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    /** The default prefix of the keys. */
    public static final String DEFAULT_PREFIX = "spring-integration:";

    private final Holdfast holdfast;
    private final String prefix;

    /** These have no state: the client knows which thread holds a lock. */
    private final ReferencedLocks locks = new ReferencedLocks();

    /** A registry whose locks have names that begin with {@value #DEFAULT_PREFIX}. */
    public HoldfastLockRegistry(Holdfast holdfast) {
        this(holdfast, DEFAULT_PREFIX);
    }

    /**
     * A registry whose locks have names with a prefix.
     *
     * @param prefix the prefix of each key; if it is empty, the lock of a key is that of {@link Holdfast#lock}
     */
    public HoldfastLockRegistry(Holdfast holdfast, String prefix) {
        this.holdfast = Objects.requireNonNull(holdfast, "holdfast");
        this.prefix = Objects.requireNonNull(prefix, "prefix");
    }

    /**
     * The lock of a key. Does no I/O.
     *
     * @param lockKey a string; with the prefix 1 to 512 bytes of UTF-8
     * @throws IllegalArgumentException if the key is no string, or not of that form
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return lockOf(lockKey);
    }

    private RegistryLock lockOf(Object lockKey) {
        if (!(lockKey instanceof String key)) {
            throw new IllegalArgumentException("A lock key must be a String, but was a "
                    + lockKey.getClass().getName());
        }
        return locks.get(key, name -> new RegistryLock(name, holdfast.lock(prefix + name)));
    }

    /** Not needed: locks without references are removed automatically. */
    @Override
    public void expireUnusedOlderThan(long age) {
        locks.forgetUnreferenced();
    }

    /**
     * Checks that the current thread holds a lock, and renews a fixed lease for the {@linkplain
     * dev.holdfast.Hold#effectiveLease() same time}.
     *
     * @throws IllegalStateException if the current thread does not hold it, or has lost it
     * @throws org.springframework.dao.DataAccessResourceFailureException if the store did not reply
     */
    @Override
    public void renewLock(Object lockKey) {
        lockOf(lockKey).renew(hold -> hold.effectiveLease());
    }

    /**
     * Checks that the current thread holds a lock, and sets the rest of a fixed lease, to at least 200 ms. Other leases
     * are renewed as long as they are held, and are not changed.
     *
     * @throws IllegalStateException if the current thread does not hold it, or has lost it
     * @throws org.springframework.dao.DataAccessResourceFailureException if the store did not reply
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        lockOf(lockKey).renew(hold -> ttl);
    }

    @Override
    public String toString() {
        return "HoldfastLockRegistry[" + holdfast + ", prefix '" + prefix + "']";
    }
}
