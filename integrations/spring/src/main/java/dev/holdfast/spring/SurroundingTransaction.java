package dev.holdfast.spring;

/**
 * What a locked method does when its caller has begun a transaction already, which ends after the method. Released at
 * the end of the method, the lock would go to the next owner before the transaction has committed, and that one would
 * not see what was written.
 *
 * <p>It concerns methods that return their result; those that return a stage or a {@code Mono} run on other threads,
 * and a transaction of the calling thread is not theirs.
 */
public enum SurroundingTransaction {
    /**
     * The lock is kept until the transaction has completed. If it is lost before the commit, the transaction is rolled
     * back with {@link dev.holdfast.LockLostException}. The first call in such a transaction is logged as a warning,
     * for the transaction may have read data before the lock was there: take the lock outside of it.
     */
    HOLD,
    /** The call is refused with {@link IllegalStateException}, before anything is locked. */
    REFUSE,
    /** The lock is released at the end of the method: for what the transaction does not write. */
    IGNORE
}
