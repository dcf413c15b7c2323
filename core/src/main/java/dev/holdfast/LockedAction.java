package dev.holdfast;

/**
 * Work that is done under a lock and returns nothing.
 *
 * @param <E> what it may throw; {@link RuntimeException} if nothing checked
 */
@FunctionalInterface
public interface LockedAction<E extends Exception> {

    /**
     * Does the work.
     *
     * @param hold the hold under which it runs; closed when it returns
     */
    void run(Hold hold) throws E;
}
