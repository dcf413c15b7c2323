package dev.holdfast.store.register.machine;

import java.util.LinkedHashSet;
import java.util.Set;

/** The count of a latch: a hold without an owner, which counting down shrinks. Not thread-safe. */
final class LatchState {

    /** 0 until it is set for the first time. */
    long generation;

    /** The remaining count; 0 when it is open. */
    long remaining;

    /** The ids that have counted in this generation; at most as many as the initial count. */
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
