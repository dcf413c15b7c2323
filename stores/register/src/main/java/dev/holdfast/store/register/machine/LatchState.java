package dev.holdfast.store.register.machine;

import java.util.LinkedHashSet;
import java.util.Set;

/** The count of a latch: a hold that nobody owns, and that counting down shrinks. Not thread-safe. */
final class LatchState {

    /** 0 until it is set for the first time. */
    long generation;

    /** What is left to count; 0 when it is open. */
    long remaining;

    /** The ids that counted in this generation while it counts; at most as many as the count was. */
    final Set<String> counted = new LinkedHashSet<>();

    void begin(long newGeneration, long count) {
        generation = newGeneration;
        remaining = count;
        counted.clear();
    }

    void countDown(String id, long n) {
        if (remaining > 0 && counted.add(id)) {
            remaining = Math.max(0, remaining - n);
            if (remaining == 0) {
                counted.clear();
            }
        }
    }
}
