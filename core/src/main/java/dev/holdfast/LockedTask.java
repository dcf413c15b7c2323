package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done under a lock and returns something; {@link LockedAction} is for work that does not.
 *
 * @param <T> what it returns
 * @param <E> what it may throw; {@link RuntimeException} if nothing checked
 */
@FunctionalInterface
public interface LockedTask<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work.
     *
     * @param hold the hold under which it runs; closed when it returns
     */
    T call(Hold hold) throws E;
}
