package dev.holdfast.testkit.sim;

import dev.holdfast.LockOptions;
import dev.holdfast.spi.Kind;

/**
 * What one of the resources of a seed is.
 *
 * @param name its name, and the same in every process
 * @param kind what it is used as
 * @param capacity how much there is of it
 * @param isBarging whether who comes may go past those who wait
 */
record SimResource(String name, Kind kind, int capacity, boolean isBarging) {

    static final int MUTEX_CAPACITY = 1;

    /** Whether there may be several holds of part of it. */
    boolean isReadWrite() {
        return kind == Kind.READ_WRITE;
    }

    boolean isSemaphore() {
        return kind == Kind.SEMAPHORE;
    }

    /** Whether a hold of this weight shares a grant with others. */
    boolean isShare(int weight) {
        return isReadWrite() && weight < capacity;
    }

    /** Whether a hold of this weight is meant to be the only one, so that it may write. */
    boolean isAlone(int weight) {
        return !isSemaphore() && weight == capacity;
    }

    LockOptions options() {
        return isBarging ? LockOptions.barging() : LockOptions.fair();
    }

    @Override
    public String toString() {
        String what = switch (kind) {
            case MUTEX -> "mutex";
            case READ_WRITE -> "read-write lock";
            case SEMAPHORE -> "semaphore of " + capacity;
            default -> kind.toString();
        };
        return name + ": " + what + (isBarging ? ", barging" : "");
    }
}
