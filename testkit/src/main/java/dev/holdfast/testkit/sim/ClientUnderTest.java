package dev.holdfast.testkit.sim;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import dev.holdfast.Lockable;
import dev.holdfast.MultiLock;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A client that the simulation drives: what {@link dev.holdfast.Holdfast} does, without a call that waits. */
public interface ClientUnderTest {

    /** As in {@link dev.holdfast.Holdfast}. */
    DistributedLock lock(String name, LockOptions options);

    /** Likewise. */
    DistributedReadWriteLock readWriteLock(String name, LockOptions options);

    /** Likewise. */
    DistributedSemaphore semaphore(String name, int permits, LockOptions options);

    /** Likewise. */
    DistributedCountDownLatch latch(String name);

    /** Likewise. */
    LeaderElection election(String name);

    /** Likewise. */
    MultiLock lockAll(List<? extends Lockable> parts);

    /**
     * Acquires the resource of a hold again, as a re-entrant owner does.
     *
     * @param writes whether the write side of a read-write lock is requested
     */
    Hold enterAgain(Hold hold, boolean writes);

    /** As {@link DistributedSemaphore#release(String)}. */
    CompletionStage<Boolean> release(String semaphore, String id);

    /** As {@link DistributedSemaphore#resize(int)}. */
    CompletionStage<Boolean> resize(String semaphore, int permits);

    /** As {@link Hold#extend(Duration)}; ends with what that throws. */
    CompletionStage<Void> extend(Hold hold, Duration lease);

    /** As {@link dev.holdfast.Holdfast#close()}. */
    CompletionStage<Void> close();

    /**
     * The settings of a client.
     *
     * @param sessionTtl as in the builder of {@link dev.holdfast.Holdfast}
     * @param cohortBudget likewise
     * @param storeTimeout likewise
     * @param label likewise
     */
    record Settings(Duration sessionTtl, Duration cohortBudget, Duration storeTimeout, String label) {}

    /** Starts clients. */
    @FunctionalInterface
    interface Starter {
        /**
         * Starts a client.
         *
         * @param store its way to the store
         * @param environment its time, threads and randomness: it has no other
         * @return a stage that ends when the client is ready, or has failed to start
         */
        CompletionStage<ClientUnderTest> start(LockStore store, Environment environment, Settings settings);
    }
}
