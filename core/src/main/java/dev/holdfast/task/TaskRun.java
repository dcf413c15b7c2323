package dev.holdfast.task;

import org.jspecify.annotations.Nullable;

/**
 * What came of a task that was to be run if due.
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
     * The task was run, to its end.
     *
     * @param value what it returned
     */
    record Ran<T extends @Nullable Object>(T value) implements TaskRun<T> {}

    /**
     * The task was skipped, because another runs it or has begun it less than its {@code atLeast} ago.
     *
     * @param why who has the lock and for how long, as far as the store tells it; for people
     */
    record Skipped<T extends @Nullable Object>(String why) implements TaskRun<T> {
        @Override
        public T value() {
            throw new IllegalStateException("The task was skipped: " + why);
        }
    }
}
