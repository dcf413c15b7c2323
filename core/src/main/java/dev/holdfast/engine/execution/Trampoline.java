package dev.holdfast.engine.execution;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/*
 * A store may answer in the thread that asks, before the call returns. What the engine does about an answer may ask
 * again, and is answered again: as calls within calls, a queue of a thousand waiters would need a stack a thousand
 * times as deep. Here each reaction that comes up within another one waits until that one has returned, and then runs
 * in the same thread. So a store that answers at once looks like one that answers a little later.
 *
 * Code of users is not to be kept waiting by it, nor to keep reactions waiting: it may block until another reaction has
 * run. It therefore begins when no reaction is left, and outside of the trampoline: what it asks is answered within it.
 * It can't nest without bound either, where an executor of users runs tasks in the thread that brings them.
 */

/** Runs reactions to the store one after another instead of one within another. Each thread has its own. */
public final class Trampoline {

    /** How many callbacks may run one within another, on one thread, before the next waits for the first to return. */
    private static final int MAX_NESTED_CALLBACKS = 8;

    private static final ThreadLocal<@Nullable Trampoline> PRESENT = new ThreadLocal<>();

    private final Queue<Runnable> reactions = new ArrayDeque<>(1);
    private final Queue<Runnable> callbacks = new ArrayDeque<>(1);

    /** How many callbacks run on this thread, one within another. */
    private int nested;

    private boolean isReacting;

    private Trampoline() {}

    /** Runs a reaction of the engine: at once, or as soon as the one that this thread is at has returned. */
    public static void react(Runnable reaction) {
        Trampoline present = PRESENT.get();
        if (present != null && present.isReacting) {
            present.reactions.add(reaction);
        } else {
            within(present, own -> own.runAll(reaction));
        }
    }

    /** Runs code of users on this thread: at once, unless a reaction is to return first, or too many callbacks. */
    static void callBack(Runnable callback) {
        Trampoline present = PRESENT.get();
        if (present != null && (present.isReacting || present.nested >= MAX_NESTED_CALLBACKS)) {
            present.callbacks.add(callback);
        } else {
            within(present, own -> own.runCallback(callback));
        }
    }

    /**
     * Runs what waits for the present reaction to return. Called by whoever is about to wait on this thread: it may
     * wait for one of them.
     */
    public static void flush() {
        Trampoline present = PRESENT.get();
        if (present != null && present.isReacting) {
            for (Runnable next = present.reactions.poll(); next != null; next = present.reactions.poll()) {
                Failsafe.run("a reaction to the store", next);
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
                Failsafe.run("a reaction to the store", next);
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
