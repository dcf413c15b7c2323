package dev.holdfast.engine.local;

import dev.holdfast.spi.ResourceName;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/** The resources of one partition that this process uses, by name, and the locks that guard them. Thread-safe. */
final class ResourceRegistry<R extends Resource> {

    /**
     * The locks that guard the resources of a client. It may have a million of them, so a resource has no lock of its
     * own, but uses one of a fixed number, by its name. No thread locks the guards of two resources at a time, so to
     * share them can't deadlock.
     */
    static final class Guards {

        /** As a power of two. There are so many that two busy resources rarely share a guard. */
        private static final int BITS = 10;

        /** Fibonacci hashing: names that differ only in their last digit don't get neighbours in the heap. */
        private static final int GOLDEN_RATIO = 0x9e3779b9;

        private final ReentrantLock[] locks = new ReentrantLock[1 << BITS];

        Guards() {
            for (int i = 0; i < locks.length; i++) {
                locks[i] = new ReentrantLock();
            }
        }

        ReentrantLock of(ResourceName name) {
            return locks[(name.hashCode() * GOLDEN_RATIO) >>> (Integer.SIZE - BITS)];
        }
    }

    final ConcurrentMap<ResourceName, R> resources = new ConcurrentHashMap<>();
    final Guards guards;

    ResourceRegistry(Guards guards) {
        this.guards = guards;
    }
}
