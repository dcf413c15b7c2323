package dev.holdfast.spring.execution;

import dev.holdfast.task.TaskHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The locks under which the calling thread works, innermost first. */
public final class HeldStack {

    private static final ThreadLocal<@Nullable HeldStack> INNERMOST = new ThreadLocal<>();

    private final HeldLocks locks;
    private final @Nullable HeldStack outer;

    private HeldStack(HeldLocks locks, @Nullable HeldStack outer) {
        this.locks = locks;
        this.outer = outer;
    }

    /** Adds locks, until the same thread calls {@link #pop()} on the result. */
    static HeldStack push(HeldLocks locks) {
        HeldStack innermost = new HeldStack(locks, INNERMOST.get());
        INNERMOST.set(innermost);
        return innermost;
    }

    void pop() {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }

    /** The locks that were acquired last. */
    public static Optional<HeldLocks> innermost() {
        return Optional.ofNullable(INNERMOST.get()).map(stack -> stack.locks);
    }

    /** The innermost locks that include a name. */
    public static Optional<HeldLocks> named(String name) {
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            if (stack.locks.names().contains(name)) {
                return Optional.of(stack.locks);
            }
        }
        return Optional.empty();
    }

    /** The innermost job. */
    public static Optional<TaskHold> job() {
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            if (stack.locks.single().orElse(null) instanceof TaskHold job) {
                return Optional.of(job);
            }
        }
        return Optional.empty();
    }

    /** The names of all locks, innermost first. */
    public static List<String> names() {
        List<String> names = new ArrayList<>();
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            names.addAll(stack.locks.names());
        }
        return List.copyOf(names);
    }
}
