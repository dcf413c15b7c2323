package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.SmallStacks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/*
 * The store in memory replies in the calling thread. The reaction to a reply sends the next command, and so on: as
 * nested calls that would need a stack as deep as the queue is long.
 */
@DisplayName("Waiters without number, on a store that answers at once and with small stacks,")
class ManyWaitersTest {

    private static final int PERMITS = 10_000;
    private static final int WAITERS = 100_000;
    private static final int PARTIES = 1_000;

    private final SmallStacks environment = new SmallStacks();
    private final Holdfast holdfast =
            Holdfast.builder(new ReferenceStore()).environment(environment).build();
    private final AtomicInteger served = new AtomicInteger();

    @AfterEach
    void close() {
        holdfast.close();
        environment.close();
    }

    @Test
    @DisplayName("of a lock are all served")
    void lock() throws Exception {
        Hold first = holdfast.lock("hot").acquireAsync().toCompletableFuture().join();
        asked(i -> holdfast.lock("hot").acquireAsync());
        SmallStacks.call(first::releaseAsync).join();
        allAreServed(WAITERS);
    }

    @Test
    @DisplayName("of a read-write lock are all served")
    void readWriteLock() throws Exception {
        DistributedReadWriteLock hot = holdfast.readWriteLock("hot");
        Hold first = hot.writeLock().acquireAsync().toCompletableFuture().join();
        asked(i -> (i % 3 == 0 ? hot.writeLock() : hot.readLock()).acquireAsync());
        SmallStacks.call(first::releaseAsync).join();
        allAreServed(WAITERS);
    }

    @Test
    @DisplayName("of a semaphore are all served")
    void semaphore() throws Exception {
        Hold all = holdfast.semaphore("hot", PERMITS)
                .acquireAsync(PERMITS, AcquireOptions.defaults())
                .toCompletableFuture()
                .join();
        asked(unused -> holdfast.semaphore("hot", PERMITS).acquireAsync(1, AcquireOptions.defaults()));
        SmallStacks.call(all::releaseAsync).join();
        allAreServed(WAITERS);
    }

    @Test
    @DisplayName("of a latch all pass")
    void latch() throws Exception {
        DistributedCountDownLatch latch = holdfast.latch("hot");
        assertThat(latch.trySetCount(1)).isTrue();
        SmallStacks.call(() -> {
                    for (int i = 0; i < WAITERS; i++) {
                        var unused = latch.awaitAsync().thenRun(served::incrementAndGet);
                    }
                    return 0;
                })
                .join();
        SmallStacks.call(latch::countDown).join();
        allAreServed(WAITERS);
    }

    @Test
    @DisplayName("at a barrier all go in and out")
    void barrier() throws Exception {
        DistributedDoubleBarrier barrier = holdfast.barrier("hot", PARTIES);
        SmallStacks.call(() -> {
                    for (int i = 0; i < PARTIES; i++) {
                        var unused = barrier.enterAsync()
                                .thenCompose(inside -> inside.leaveAsync())
                                .thenRun(served::incrementAndGet);
                    }
                    return 0;
                })
                .join();
        allAreServed(PARTIES);
    }

    @Test
    @DisplayName("in an election all lead in their turn")
    void election() throws Exception {
        List<Campaign> campaigns = new ArrayList<>();
        SmallStacks.call(() -> {
                    for (int i = 0; i < PARTIES; i++) {
                        campaigns.add(holdfast.election("hot").campaign(new Candidate() {
                            private boolean hasLed;

                            @Override
                            public void onElected(Leadership leadership) throws Exception {
                                if (!hasLed) {
                                    hasLed = true;
                                    served.incrementAndGet();
                                }
                                leadership.resign();
                            }
                        }));
                    }
                    return 0;
                })
                .join();
        allAreServed(PARTIES);
        campaigns.forEach(Campaign::closeAsync);
    }

    /** Requests on a small stack; each grant is released at once. */
    private void asked(IntFunction<? extends CompletionStage<? extends Hold>> asking) throws Exception {
        SmallStacks.call(() -> {
                    for (int i = 0; i < WAITERS; i++) {
                        var unused = asking.apply(i).thenAccept(hold -> {
                            served.incrementAndGet();
                            var unusedEnd = hold.releaseAsync();
                        });
                    }
                    return 0;
                })
                .join();
    }

    private void allAreServed(int count) {
        Eventually.holds("all are served, and not only " + served, () -> served.get() == count);
    }
}
