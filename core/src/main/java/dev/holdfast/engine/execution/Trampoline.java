package dev.holdfast.engine.execution;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/*
 * A store may reply on the calling thread, before the call returns. The reaction to a reply may send the next command,
 * which gets its reply in the same way: as nested calls, a queue of a thousand waiters would need a stack a thousand
 * times as deep. Here a reaction that occurs within another one waits until that one has returned, and then runs on the
 * same thread. A store that replies at once thus looks like one that replies a little later.
 *
 * Code of users must neither wait for reactions nor delay them: it may block until another reaction has run. It
 * therefore begins when no reaction is left, and runs outside of the trampoline: replies to its commands arrive while
 * it runs. Its nesting is bounded too, since an executor of users may run tasks on the calling thread.
 */

/** Runs reactions to the store one after another instead of nested. Each thread has its own. */
public final class Trampoline {

    /** How deeply callbacks may nest on one thread before the next one waits for the first to return. */
    private static final int MAX_NESTED_CALLBACKS = 8;

    private static final ThreadLocal<@Nullable Trampoline> PRESENT = new ThreadLocal<>();

    private final Queue<Runnable> reactions = new ArrayDeque<>(1);
    private final Queue<Runnable> callbacks = new ArrayDeque<>(1);

    /** The current depth of callbacks on this thread. */
    private int nested;

    private boolean isReacting;

    private Trampoline() {}

    /** Runs a reaction of the engine: at once, or when the current one of this thread has returned. */
    public static void react(Runnable reaction) {
        Trampoline present = PRESENT.get();
        if (present != null && present.isReacting) {
            present.reactions.add(reaction);
        } else {
            within(present, own -> own.runAll(reaction));
        }
    }

    /** Runs code of users on this thread: at once, or after the current reaction or too deeply nested callbacks. */
    static void callBack(Runnable callback) {
        Trampoline present = PRESENT.get();
        if (present != null && (present.isReacting || present.nested >= MAX_NESTED_CALLBACKS)) {
            present.callbacks.add(callback);
        } else {
            within(present, own -> own.runCallback(callback));
        }
    }

    /**
     * Runs everything that waits for the current reaction to return. Called before this thread waits, since it may wait
     * for one of these.
     */
    public static void flush() {
        Trampoline present = PRESENT.get();
        if (present != null && present.isReacting) {
            for (Runnable next = present.reactions.poll(); next != null; next = present.reactions.poll()) {
                Failsafe.run("handling a store reply", next);
            }
        }
    }

    private interface Step {
        void run(Trampoline own);
    }

    private static void within(@Nullable Trampoline present, Step step) {
        if (present != null) {
            step.run(present);
            return;
        }
        Trampoline fresh = new Trampoline();
        PRESENT.set(fresh);
        try {
            step.run(fresh);
            fresh.runLeft();
        } finally {
            PRESENT.remove();
        }
    }

    private void runAll(Runnable first) {
        isReacting = true;
        try {
            for (Runnable next = first; next != null; next = reactions.poll()) {
                Failsafe.run("handling a store reply", next);
            }
        } finally {
            isReacting = false;
        }
        if (nested < MAX_NESTED_CALLBACKS) {
            runLeft();
        }
    }

    private void runLeft() {
        for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
            runCallback(next);
        }
    }

    private void runCallback(Runnable callback) {
        nested++;
        try {
            Failsafe.run("a callback", callback);
        } finally {
            nested--;
        }
    }
}
