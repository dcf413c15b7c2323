package dev.holdfast.spring;

/** The reaction of a locked method when others kept the lock for all of the maximum wait. */
public enum TimeoutReaction {
    /** The method throws {@link dev.holdfast.LockWaitTimeoutException}. */
    THROW,
    /**
     * The method is not run. The caller gets an empty {@code Optional}, a stage that completes with null, an empty
     * {@code Mono}, or null, depending on the return type.
     */
    SKIP
}
