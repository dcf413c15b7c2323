package dev.holdfast.spring;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done under locks, of which {@link CurrentLocks} has the fencing tokens.
 *
 * @param <T> what it returns
 * @param <E> what it may throw
 */
@FunctionalInterface
public interface LockedWork<T extends @Nullable Object, E extends Throwable> {

    /** Does the work. */
    T run() throws E;
}
