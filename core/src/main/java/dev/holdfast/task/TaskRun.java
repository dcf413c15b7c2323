package dev.holdfast.task;

import org.jspecify.annotations.Nullable;

/**
 * The result of a task that was run if due.
 *
 * @param <T> what the task returns
 */
public sealed interface TaskRun<T extends @Nullable Object> {

    /** Whether the task was run by this call. */
    default boolean hasRun() {
        return this instanceof Ran;
    }

    /**
     * What the task returned.
     *
     * @throws IllegalStateException if it was skipped
     */
    T value();

    /**
     * The task was run.
     *
     * @param value what it returned
     */
    record Ran<T extends @Nullable Object>(T value) implements TaskRun<T> {}

    /**
     * The task was skipped, because another process runs it or has started it less than {@code atLeast} ago.
     *
     * @param why the holder of the lock and the time left, as far as the store reports them; for people
     */
    record Skipped<T extends @Nullable Object>(String why) implements TaskRun<T> {
        @Override
        public T value() {
            throw new IllegalStateException("The task was skipped: " + why);
        }
    }
}
