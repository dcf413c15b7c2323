package dev.holdfast.spring;

/** How a lock is shared between its owners. Everyone who uses a name uses it in the same way. */
public enum LockMode {
    /** One owner at a time; re-entrant for its thread. */
    MUTEX,
    /** The side of a read-write lock that others may hold at the same time. */
    READ,
    /** The side of a read-write lock that one owner holds alone. */
    WRITE,
    /** Some of a number of permits. */
    PERMITS
}
