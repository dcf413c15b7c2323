package dev.holdfast.examples;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;

/** The code of the page on read-write locks, compiled. */
@SuppressWarnings("unused")
final class ReadWriteExamples {

    private String stored = "";
    private long highest;

    void bothSides(Holdfast holdfast) throws InterruptedException {
        DistributedReadWriteLock catalogue = holdfast.readWriteLock("catalogue");

        try (Hold read = catalogue.readLock().acquire()) {
            render(load());
        }
        try (Hold write = catalogue.writeLock().acquire(Duration.ofSeconds(5))) {
            store(change(load()), write.fencingToken());
        }
    }

    void downgrade(DistributedReadWriteLock catalogue) {
        catalogue.writeLock().lock();
        try {
            replace();
            catalogue.readLock().lock(); // before the write side goes: no other writer comes in between
        } finally {
            catalogue.writeLock().unlock();
        }
        try {
            verify();
        } finally {
            catalogue.readLock().unlock();
        }
    }

    private String load() {
        return stored;
    }

    private void store(String changed, long fencingToken) {
        if (fencingToken < highest) {
            throw new IllegalStateException("A writer that lost its lock came too late");
        }
        highest = fencingToken;
        stored = changed;
    }

    private static String change(String text) {
        return text;
    }

    private static void render(String text) {}

    private static void replace() {}

    private static void verify() {}
}
