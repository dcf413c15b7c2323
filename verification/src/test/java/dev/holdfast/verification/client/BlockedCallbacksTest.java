package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.MultiHold;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("While all callbacks of a client block, on its own threads")
class BlockedCallbacksTest {

    /** More than a client has threads for callbacks. */
    private static final int CALLBACKS = 2 * Math.max(4, Runtime.getRuntime().availableProcessors());

    private final World world = World.live();
    private final Holdfast holdfast = world.client("alice");
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void close() {
        go.countDown();
        world.close();
    }

    private void blockCallbacks() throws InterruptedException {
        int threads = CALLBACKS / 2;
        CountDownLatch begun = new CountDownLatch(threads);
        for (int i = 0; i < CALLBACKS; i++) {
            // Granted when the callback is there: else it would run on this thread.
            DistributedLock lock = holdfast.lock("blocked" + i);
            Hold first = lock.acquire();
            var unused = lock.acquireAsync().thenAccept(hold -> {
                begun.countDown();
                awaitGo();
                hold.close();
            });
            first.close();
        }
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    }

    private void awaitGo() {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static <T> T comesIn(CompletableFuture<T> stage) throws Exception {
        return stage.get(60, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("work that has lost its hold is interrupted all the same")
    @Tag("C2")
    void interrupt() throws Exception {
        Actor worker = world.actor("worker");
        CountDownLatch begun = new CountDownLatch(1);
        Doing<Object> working =
                worker.start(() -> holdfast.lock("ledger").<Object, InterruptedException>callWhileHeld(hold -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return null;
                }));
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        blockCallbacks();

        world.releaseByForce("ledger");

        assertThatThrownBy(working::result).isInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("so is a task that has lost its turn")
    @Tag("C2")
    void turn() throws Exception {
        Actor worker = world.actor("worker");
        CountDownLatch begun = new CountDownLatch(1);
        Doing<Object> working = worker.start(() -> holdfast.task("report")
                .<Object, InterruptedException>callIfDue(TaskOptions.atMost(Duration.ofMinutes(5)), hold -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return null;
                }));
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        blockCallbacks();

        world.releaseByForce("report");

        assertThatThrownBy(working::result).isInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("every listener for a loss is told, though others block too, and one of the same hold")
    @Tag("C2")
    void listeners() throws Exception {
        blockCallbacks();
        List<CompletableFuture<Void>> told = new ArrayList<>();
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < CALLBACKS; i++) {
            Hold hold = holdfast.lock("lost" + i).acquire();
            CompletableFuture<Void> one = new CompletableFuture<>();
            hold.onLost(loss -> awaitGo());
            hold.onLost(loss -> one.complete(null));
            holds.add(hold);
            told.add(one);
        }

        for (int i = 0; i < CALLBACKS; i++) {
            world.releaseByForce("lost" + i);
        }

        for (CompletableFuture<Void> one : told) {
            comesIn(one);
        }
        for (Hold hold : holds) {
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    @DisplayName("whoever waits for the end of a hold, of several, or of the client, goes on")
    void release() throws Exception {
        Hold hold = holdfast.lock("ledger").acquire();
        MultiHold all =
                holdfast.lockAll(holdfast.lock("one"), holdfast.lock("two")).acquire();
        Holdfast another = world.client("bob");
        blockCallbacks();

        hold.close();
        all.close();
        another.close();
        holdfast.lock("ledger").lock();
        holdfast.lock("ledger").unlock();
        holdfast.task("report").runIfDue(TaskOptions.atMost(Duration.ofMinutes(5)), turn -> {});

        assertThat(world.holderOf("ledger")).isEmpty();
        assertThat(world.holderOf("one")).isEmpty();
    }

    @Test
    @DisplayName("stages of others end with their grants and time-outs, and the client closes")
    @Tag("C15")
    void stages() throws Exception {
        Hold first = holdfast.lock("ledger").acquire();
        blockCallbacks();

        var granted = holdfast.lock("ledger").acquireAsync();
        var timedOut =
                holdfast.lock("ledger").acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ofMillis(50)));
        assertThatThrownBy(() -> comesIn(timedOut.toCompletableFuture()))
                .hasCauseInstanceOf(LockWaitTimeoutException.class);
        first.close();
        comesIn(granted.toCompletableFuture()).close();

        comesIn(holdfast.closeAsync().toCompletableFuture());
    }

    @Test
    @DisplayName("dependents that wait for other locks get them")
    @Tag("C15")
    void nested() throws Exception {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < CALLBACKS; i++) {
            String name = "outer" + i;
            DistributedLock inner = holdfast.lock("inner" + i);
            Hold first = holdfast.lock(name).acquire();
            Hold innerFirst = comesIn(inner.acquireAsync().toCompletableFuture());
            ends.add(holdfast.lock(name)
                    .acquireAsync()
                    .thenAccept(outer -> {
                        var nested = inner.acquireAsync().toCompletableFuture();
                        var unused = innerFirst.releaseAsync();
                        nested.join().close();
                        outer.close();
                    })
                    .toCompletableFuture());
            first.close();
        }
        for (CompletableFuture<Void> end : ends) {
            comesIn(end);
        }
    }

    @Test
    @DisplayName("several locks are acquired for a stage all the same")
    @Tag("C15")
    void multiLock() throws Exception {
        blockCallbacks();

        var all = holdfast.lockAll(
                        holdfast.lock("one"),
                        holdfast.lock("two"),
                        holdfast.semaphore("three", 2).permits(1))
                .acquireAsync();

        for (String name : List.of("one", "two", "three")) {
            Eventually.holds(name + " is held", () -> world.holderOf(name).isPresent());
        }
        go.countDown();
        comesIn(all.toCompletableFuture()).close();
    }

    @Test
    @DisplayName("parties enter a barrier, and leave it")
    @Tag("C15")
    void barrier() throws Exception {
        Holdfast bob = world.client("bob");
        blockCallbacks();

        Doing<BarrierMembership> one =
                world.actor("one").start(() -> holdfast.barrier("stage", 2).enter());
        Doing<BarrierMembership> two =
                world.actor("two").start(() -> bob.barrier("stage", 2).enter());
        BarrierMembership first = one.result();
        BarrierMembership second = two.result();

        assertThat(first.generation()).isEqualTo(second.generation());
        first.close();
        second.close();
    }

    @Nested
    @DisplayName("a leader")
    @Tag("E7")
    class Leading {

        private final CompletableFuture<Leadership> elected = new CompletableFuture<>();
        private final CompletableFuture<TermEnd> over = new CompletableFuture<>();
        private final CompletableFuture<TermEnd> told = new CompletableFuture<>();
        private Campaign campaign;

        private final Candidate candidate = new Candidate() {
            @Override
            public void onElected(Leadership leadership) {
                leadership.onEnd(told::complete);
                elected.complete(leadership);
            }

            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                over.complete(end);
            }
        };

        @BeforeEach
        void elect() {
            campaign = holdfast.election("region").campaign(candidate);
        }

        @AfterEach
        void leaves() {
            campaign.close();
        }

        @Test
        @DisplayName("is elected")
        void election() throws Exception {
            blockCallbacks();
            CompletableFuture<Leadership> begun = new CompletableFuture<>();

            Campaign another = holdfast.election("zone").campaign(begun::complete);

            assertThat(comesIn(begun).isLeader()).isTrue();
            another.close();
        }

        @Test
        @DisplayName("is told of its loss")
        void loss() throws Exception {
            comesIn(elected);
            blockCallbacks();

            world.releaseByForce("region");

            assertThat(comesIn(over).reason()).isEqualTo(TermEnd.Reason.LOST);
            assertThat(comesIn(told).reason()).isEqualTo(TermEnd.Reason.LOST);
        }

        @Test
        @DisplayName("is told of it on an executor of its own, too")
        void lossOnItsExecutor() throws Exception {
            CompletableFuture<TermEnd> end = new CompletableFuture<>();
            CompletableFuture<Leadership> begun = new CompletableFuture<>();
            CampaignOptions options =
                    CampaignOptions.defaults().withExecutor(task -> new Thread(task, "candidate").start());
            Campaign another = holdfast.election("zone").campaign(options, new Candidate() {
                @Override
                public void onElected(Leadership leadership) {
                    begun.complete(leadership);
                }

                @Override
                public void onTermEnd(Leadership leadership, TermEnd how) {
                    end.complete(how);
                }
            });
            comesIn(begun);
            blockCallbacks();

            world.releaseByForce("zone");

            assertThat(comesIn(end).reason()).isEqualTo(TermEnd.Reason.LOST);
            another.close();
        }
    }
}
