package dev.holdfast.spring;

/**
 * The reaction of a locked method to a transaction that its caller has begun, and that ends after the method. If the
 * lock were released at the end of the method, the next owner could acquire it before the commit, and would not see the
 * changes.
 *
 * <p>It applies to methods that return their result. Those that return a stage or a {@code Mono} run on other threads,
 * outside the transaction of the calling thread.
 */
public enum SurroundingTransaction {
    /**
     * The lock is kept until the transaction has completed. If it is lost before the commit, the transaction is rolled
     * back with {@link dev.holdfast.LockLostException}. The first call in such a transaction logs a warning, since the
     * transaction may have read data before the lock was acquired: acquire the lock outside the transaction.
     */
    HOLD,
    /** The call fails with {@link IllegalStateException}, before anything is locked. */
    REFUSE,
    /** The lock is released at the end of the method: for data that the transaction does not write. */
    IGNORE
}
