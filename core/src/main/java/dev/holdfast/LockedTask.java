package dev.holdfast;

import java.util.Objects;
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

    /** An action as a task that returns null. */
    @SuppressWarnings("NullAway") // the result is a type argument, which NullAway does not check on every JDK
    static <E extends Exception> LockedTask<@Nullable Void, E> of(LockedAction<E> action) {
        Objects.requireNonNull(action, "action");
        return hold -> {
            action.run(hold);
            return null;
        };
    }
}
