package com.example.library;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import java.time.Duration;

/** A library on the API alone; the program that uses it chooses the store. */
public final class NightlyReport {

    private final DistributedLock lock;

    /** A report that one process writes at a time. */
    public NightlyReport(DistributedLock lock) {
        this.lock = lock;
    }

    /** Writes the report, and returns the token of the hold. */
    public long run() throws InterruptedException {
        try (Hold hold = lock.acquire(Duration.ofMinutes(1))) {
            return hold.fencingToken();
        }
    }
}
