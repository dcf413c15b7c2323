package dev.holdfast.engine;

import dev.holdfast.Environment;

/** Spreads delays so that clients don't move in step. */
final class Jitter {

    private Jitter() {}

    /** A random delay between three quarters and five quarters of the given one. */
    static long spread(Environment environment, long nanos) {
        long half = nanos / 2;
        return half <= 0 ? nanos : nanos - half / 2 + Long.remainderUnsigned(environment.randomLong(), half);
    }
}
