package dev.holdfast.examples;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.MultiHold;
import dev.holdfast.Permits;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Leadership;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The code of the page on semaphores, compiled. */
@SuppressWarnings("unused")
final class SemaphoreExamples {

    private interface Queue {
        void send(String message);
    }

    void together(Holdfast holdfast) throws InterruptedException {
        DistributedSemaphore gpus = holdfast.semaphore("gpu", 4);

        try (Permits two = gpus.acquire(2)) {
            train(two.permits());
        }
    }

    void primitives(Holdfast holdfast) throws InterruptedException {
        holdfast.readWriteLock("catalogue").readLock().lock(); // many readers or one writer
        Permits two = holdfast.semaphore("gpu", 4).acquire(2); // 2 of 4, together
        MultiHold both = holdfast.lockAll("account/7", "account/9").acquire(); // all or nothing, no deadlock
        holdfast.latch("migrated").await(); // waits until the count reaches zero
        Campaign lead = holdfast.election("scheduler").campaign(leadership -> schedule(leadership)); // one leads
        holdfast.task("nightly").runIfDue(TaskOptions.atMost(Duration.ofHours(1)), hold -> report()); // one runs it
    }

    void sizes(DistributedSemaphore gpus) {
        gpus.resize(6); // waiters that fit now are admitted at once
        int free = gpus.availablePermits();
        Optional<Permits> rest = gpus.drainPermits();
        gpus.resize(2); // holders finish; no one is admitted until fewer than 2 are held
    }

    void options(Holdfast holdfast, DistributedSemaphore gpus) throws InterruptedException {
        Optional<Permits> now = gpus.tryAcquire(2); // empty if too few are free, or someone waits
        Optional<Permits> soon = gpus.tryAcquire(2, AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(2)));
        CompletionStage<Permits> later = gpus.acquireAsync(2, AcquireOptions.defaults());
        DistributedSemaphore unordered = holdfast.semaphore("crawl", 50, LockOptions.barging());
    }

    void leases(DistributedSemaphore gpus, Queue queue) throws InterruptedException {
        Permits slot = gpus.acquire(1, AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(5)));
        slot.extend(Duration.ofMinutes(5));

        Permits handedOver = gpus.acquire(1, AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
        queue.send(handedOver.permitId()); // another process ends it: gpus.release(permitId)
    }

    private static void train(int gpus) {}

    private static void schedule(Leadership leadership) {}

    private static void report() {}
}
