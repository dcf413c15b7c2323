package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import java.util.Iterator;
import java.util.function.Consumer;

/*
 * A client may hold a million locks. To visit them all takes a second, or many on a busy machine. The thread that does
 * it at one go sends no keep-alive, or reads no reply of its connection, for that time.
 */

/** Visits very many things a slice at a time, and lets other work run in between. */
public final class Slices {

    /** Some milliseconds of work. Nearly all clients have fewer resources. */
    private static final int SLICE = 1_000;

    private Slices() {}

    /**
     * Visits the first slice on the calling thread, and each of the others by a timer. An exception of one visit does
     * not affect the others.
     *
     * @param what the visits, for the log
     * @param then runs after the last visit, also if the virtual machine could not continue for want of memory
     */
    public static <T> void visit(
            Environment environment, String what, Iterator<T> all, Consumer<T> visitor, Runnable then) {
        boolean isToBeContinued = false;
        try {
            for (int left = SLICE; left > 0 && all.hasNext(); left--) {
                T next = all.next();
                Failsafe.run(what, () -> visitor.accept(next));
            }
            if (all.hasNext()) {
                environment.schedule(0, () -> visit(environment, what, all, visitor, then));
                isToBeContinued = true;
            }
        } finally {
            if (!isToBeContinued) {
                then.run();
            }
        }
    }
}
