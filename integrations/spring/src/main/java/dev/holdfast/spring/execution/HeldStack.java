package dev.holdfast.spring.execution;

import dev.holdfast.task.TaskHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The locks that the calling thread works under, innermost first. */
public final class HeldStack {

    private static final ThreadLocal<@Nullable HeldStack> INNERMOST = new ThreadLocal<>();

    private final HeldLocks held;
    private final @Nullable HeldStack outer;

    private HeldStack(HeldLocks held, @Nullable HeldStack outer) {
        this.held = held;
        this.outer = outer;
    }

    /** Adds locks, until {@link #pop()} is called on what this returns, by the same thread. */
    static HeldStack push(HeldLocks held) {
        HeldStack innermost = new HeldStack(held, INNERMOST.get());
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

    /** The locks that were taken last. */
    public static Optional<HeldLocks> innermost() {
        return Optional.ofNullable(INNERMOST.get()).map(stack -> stack.held);
    }

    /** The innermost locks with a name among them. */
    public static Optional<HeldLocks> named(String name) {
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            if (stack.held.names().contains(name)) {
                return Optional.of(stack.held);
            }
        }
        return Optional.empty();
    }

    /** The innermost job. */
    public static Optional<TaskHold> job() {
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            if (stack.held.single().orElse(null) instanceof TaskHold job) {
                return Optional.of(job);
            }
        }
        return Optional.empty();
    }

    /** The names of all locks, innermost first. */
    public static List<String> names() {
        List<String> names = new ArrayList<>();
        for (HeldStack stack = INNERMOST.get(); stack != null; stack = stack.outer) {
            names.addAll(stack.held.names());
        }
        return List.copyOf(names);
    }
}
