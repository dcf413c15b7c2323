package dev.holdfast.examples;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.Optional;

/** The code under test of the page on testing. */
final class ReportJob {

    private final DistributedLock lock;
    private Optional<Hold> running = Optional.empty();

    ReportJob(Holdfast holdfast) {
        lock = holdfast.lock("report");
    }

    /** Whether it got the lock within ten minutes. */
    boolean run() throws InterruptedException {
        Optional<Hold> hold = lock.tryAcquire(Duration.ofMinutes(10));
        hold.ifPresent(Hold::close);
        return hold.isPresent();
    }

    void begin() throws InterruptedException {
        running = Optional.of(lock.acquire());
    }

    boolean mayWrite() {
        return running.map(Hold::isHeld).orElse(false);
    }
}
