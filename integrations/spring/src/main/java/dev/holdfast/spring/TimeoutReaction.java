package dev.holdfast.spring;

/** What a locked method does when others kept the lock for all of the maximum wait. */
public enum TimeoutReaction {
    /** It throws {@link dev.holdfast.LockWaitTimeoutException}. */
    THROW,
    /**
     * It is not run. The caller gets what stands for nothing: an empty {@code Optional}, a stage that ends with null,
     * an empty {@code Mono}, or null.
     */
    SKIP
}
