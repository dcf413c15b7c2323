package dev.holdfast.engine.time;

import dev.holdfast.Environment;

/** Randomises delays so that clients don't act in step. */
public final class Jitter {

    private Jitter() {}

    /** A random delay between three quarters and five quarters of the given one. */
    public static long spread(Environment environment, long nanos) {
        long half = nanos / 2;
        return nanos - half / 2 + upTo(environment, half);
    }

    /** A random delay from zero to less than the given one. */
    public static long upTo(Environment environment, long nanos) {
        return nanos <= 0 ? 0 : Long.remainderUnsigned(environment.randomLong(), nanos);
    }
}
