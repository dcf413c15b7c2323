package dev.holdfast.spring;

/** How owners share a lock. All users of a name must use the same mode, or the two modes of a read-write lock. */
public enum LockMode {
    /** One owner at a time; re-entrant for its thread. */
    MUTEX,
    /** The shared side of a read-write lock. */
    READ,
    /** The exclusive side of a read-write lock. */
    WRITE,
    /** Some permits of a semaphore. */
    PERMITS
}
