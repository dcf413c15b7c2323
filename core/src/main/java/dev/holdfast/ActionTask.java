package dev.holdfast;

import org.jspecify.annotations.Nullable;

/** An action as a task, which returns nothing. */
record ActionTask<E extends Exception>(LockedAction<E> action) implements LockedTask<@Nullable Void, E> {

    @Override
    @SuppressWarnings("NullAway") // what it returns is a type argument, which is not looked into on each JDK
    public @Nullable Void call(Hold hold) throws E {
        action.run(hold);
        return null;
    }
}
