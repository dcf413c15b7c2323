package dev.holdfast.store.memory;

import java.util.HashSet;
import java.util.Set;

/** The count of a latch: an ownerless hold that counting down shrinks. */
final class MemoryLatch {

    /** 0 until the count is first set. */
    long generation;

    /** The count that is left; 0 while the latch is open. */
    long remaining;

    /** The ids that have counted in this generation, while the latch is closed. Bounded by the initial count. */
    final Set<String> counted = new HashSet<>();

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
