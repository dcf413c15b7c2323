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
 * renewed by the client as long as they are held: {@link #renewLock} and a task scheduler are not needed for that.
 *
 * <p><b>Loss.</b> A lock that was lost is given up by {@code unlock}, which throws {@link
 * java.util.ConcurrentModificationException}, or by {@code tryLock}, which answers false, so that whoever keeps asking
 * for what it has (as the leader initiator of Spring Integration does) learns of the loss.
 *
 * <p><b>Failures.</b> Acquiring throws {@link org.springframework.dao.CannotAcquireLockException} if the store does not
 * answer or refuses, unlocking {@link org.springframework.dao.DataAccessResourceFailureException} if it does not
 * confirm.
 *
 * <p>The object of a key is the same for as long as somebody refers to it; the registry itself keeps none, so it needs
 * neither a capacity nor clearing.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. The client is the caller's, and is not closed.
 */
public final class HoldfastLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    /** What stands before the keys unless another prefix is given. */
    public static final String DEFAULT_PREFIX = "spring-integration:";

    private final Holdfast holdfast;
    private final String prefix;

    /** They have no state: which thread holds one is known by the client. */
    private final ReferencedLocks locks = new ReferencedLocks();

    /** A registry whose locks have names that begin with {@value #DEFAULT_PREFIX}. */
    public HoldfastLockRegistry(Holdfast holdfast) {
        this(holdfast, DEFAULT_PREFIX);
    }

    /**
     * A registry whose locks have names with a prefix.
     *
     * @param prefix what stands before each key; with an empty one, the lock of a key is that of {@link Holdfast#lock}
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
            throw new IllegalArgumentException("The key of a lock must be a String, but was a "
                    + lockKey.getClass().getName());
        }
        return locks.get(key, name -> new RegistryLock(name, holdfast.lock(prefix + name)));
    }

    /** Does nothing that is needed: locks that nobody refers to are forgotten by themselves. */
    @Override
    public void expireUnusedOlderThan(long age) {
        locks.forgetUnreferenced();
    }

    /**
     * Makes sure that the current thread holds a lock, and renews one that was acquired with a time of its own to the
     * {@linkplain dev.holdfast.Hold#effectiveLease() same time}.
     *
     * @throws IllegalStateException if the current thread does not hold it, or has lost it
     * @throws org.springframework.dao.DataAccessResourceFailureException if the store did not answer
     */
    @Override
    public void renewLock(Object lockKey) {
        lockOf(lockKey).renew(hold -> hold.effectiveLease());
    }

    /**
     * Makes sure that the current thread holds a lock, and sets anew the time of one that was acquired with a time of
     * its own, to at least 200 ms. Others are renewed for as long as they are held, whatever is said here.
     *
     * @throws IllegalStateException if the current thread does not hold it, or has lost it
     * @throws org.springframework.dao.DataAccessResourceFailureException if the store did not answer
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
