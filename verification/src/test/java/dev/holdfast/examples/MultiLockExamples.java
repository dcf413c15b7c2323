package dev.holdfast.examples;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.MultiHold;
import java.time.Duration;
import java.util.Optional;

/** The code of the page on multi-locks, compiled. */
@SuppressWarnings("unused")
final class MultiLockExamples {

    private interface Ledger {
        void move(long amount, long fromToken, long toToken);
    }

    private final Ledger ledger = (amount, from, to) -> {};

    void transfer(Holdfast holdfast, long amount) throws InterruptedException {
        try (MultiHold hold = holdfast.lockAll("account/7", "account/9").acquire(Duration.ofSeconds(5))) {
            ledger.move(amount, hold.fencingToken("account/7"), hold.fencingToken("account/9"));
        }
    }

    void mixed(Holdfast holdfast) throws InterruptedException {
        DistributedLock job = holdfast.lock("training/42");
        DistributedReadWriteLock data = holdfast.readWriteLock("dataset");
        DistributedSemaphore gpus = holdfast.semaphore("gpu", 4);

        Optional<MultiHold> all =
                holdfast.lockAll(job, data.readLock(), gpus.permits(2)).tryAcquire(Duration.ofMinutes(1));
        all.ifPresent(hold -> {
            try (hold) {
                hold.onLost(loss -> stop(loss.name()));
                train();
            }
        });
    }

    private static void stop(String lost) {}

    private static void train() {}
}
