package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** X: many at once. What these tests see depends on chance; what they must never see does not. */
@Tag("X")
abstract class ConcurrencyRules extends ConformanceRules {

    private static final int THREADS = 4;

    /** What each thread does at least; a slow store makes these and no more. */
    private static final int ROUNDS = 120;

    /** A fast store makes more of them, until this time has passed: threads must have met. */
    private static final Duration WHILE = Duration.ofMillis(300);

    private static final int MOST_ROUNDS = 5_000;
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** What one thread does, from a start that all have in common; its client has a connection that others share. */
    private interface Work {
        void run(TestClient client, int thread, long start) throws Exception;
    }

    /** Sees holders whose holds overlap though they must not, and tokens that don't rise from one to the next. */
    private static final class OverlapDetector {
        private final AtomicLong inside = new AtomicLong();
        private final long most;
        private volatile long newest;

        OverlapDetector(long most) {
            this.most = most;
        }

        void enter(long weight) {
            long now = inside.addAndGet(weight);
            assertThat(now).as("the weight of all who are inside").isLessThanOrEqualTo(most);
        }

        void exit(long weight) {
            inside.addAndGet(-weight);
        }

        /** For who is alone inside. */
        void see(TokenBlock block) {
            assertThat(block.first()).as("the token of the next owner").isGreaterThan(newest);
            newest = block.last();
        }
    }

    @Test
    @DisplayName("X1: of many who hammer a mutex one is inside at a time, with rising tokens, and all get in")
    void mutexUnderLoad() throws Exception {
        OverlapDetector detector = new OverlapDetector(1);
        hammer((client, thread, start) -> {
            for (int i = 0; shouldContinue(i, start); i++) {
                Probe claim = client.mutex("hot").wanting(1 + i % 3);
                TokenBlock block = await(claim);
                detector.enter(1);
                detector.see(block);
                stay(claim);
                detector.exit(1);
                claim.release();
            }
        });
        assertThat(fixture.inspect("")).isEmpty();
    }

    @Test
    @DisplayName("X2: of readers and writers who hammer a resource, no writer meets anybody")
    void readWriteUnderLoad() throws Exception {
        fixture.needsAdmission(Admission.SHARED);
        OverlapDetector detector = new OverlapDetector(1_000);
        hammer((client, thread, start) -> {
            for (int i = 0; shouldContinue(i, start); i++) {
                boolean writes = (i + thread) % 4 == 0;
                Probe claim = writes ? client.writer("hot") : client.reader("hot");
                TokenBlock block = await(claim);
                detector.enter(writes ? 1_000 : 1);
                if (writes) {
                    detector.see(block);
                }
                stay(claim);
                detector.exit(writes ? 1_000 : 1);
                claim.release();
            }
        });
        assertThat(fixture.inspect("")).isEmpty();
    }

    @Test
    @DisplayName("X3: of many who hammer a semaphore, those inside never weigh more than its capacity")
    void permitsUnderLoad() throws Exception {
        fixture.needsAdmission(Admission.COUNTED);
        OverlapDetector detector = new OverlapDetector(5);
        hammer((client, thread, start) -> {
            for (int i = 0; shouldContinue(i, start); i++) {
                int weight = 1 + (i + thread) % 3;
                Probe claim = client.permits("hot", weight, 5);
                assertThat(await(claim).size()).isPositive();
                detector.enter(weight);
                stay(claim);
                detector.exit(weight);
                claim.release();
            }
        });
        assertThat(fixture.inspect("")).isEmpty();
    }

    @Test
    @DisplayName("X4: claims that are withdrawn while they are admitted hold nothing afterwards")
    void withdrawalsUnderLoad() throws Exception {
        OverlapDetector detector = new OverlapDetector(1);
        hammer((client, thread, start) -> {
            for (int i = 0; shouldContinue(i, start); i++) {
                Probe claim = client.mutex("hot");
                Reply answer = ConformanceFixture.send(client.store, claim.command());
                if (thread % 2 == 0) {
                    claim.withdraw();
                    claim.expectGone();
                } else {
                    assertThat(answer).isInstanceOfAny(Reply.Granted.class, Reply.Queued.class);
                    TokenBlock block = await(claim);
                    detector.enter(1);
                    detector.see(block);
                    stay(claim);
                    detector.exit(1);
                    claim.release();
                }
            }
            assertThat(client.claims()).isEmpty();
            assertThat(client.waiting()).isEmpty();
        });
        assertThat(fixture.inspect("")).isEmpty();
        fixture.client("last").mutex("hot").tried().expectGranted();
    }

    @Test
    @DisplayName("X5: sessions that are closed under load leave nothing behind")
    void closingUnderLoad() throws Exception {
        OverlapDetector detector = new OverlapDetector(1);
        hammer((unused, thread, start) -> {
            for (int i = 0; shouldContinue(4 * i, start); i++) {
                TestClient client = thread % 2 == 0 ? fixture.client("passing") : fixture.other("passing");
                Probe claim = client.mutex("hot");
                Probe second = client.mutex("hot");
                TokenBlock block = await(claim);
                second.expectQueued();
                detector.enter(1);
                detector.see(block);
                stay(claim);
                detector.exit(1);
                client.close();
                claim.expectGone();
                second.expectGone();
            }
        });
        assertThat(fixture.inspect("")).isEmpty();
    }

    @Test
    @DisplayName("X6: one Acquire that arrives twice at the same time makes one claim")
    void duplicatesAtTheSameTime() throws Exception {
        ConformanceFixture.needs(
                fixture.traits.tokenSource() != TokenSource.QUORUM,
                "each connection joins what the members of a quorum answer by itself");
        TestClient alice = fixture.client("alice");
        CyclicBarrier barrier = new CyclicBarrier(2);
        List<Probe> claims = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            claims.add(alice.mutex("hot-" + i));
        }
        List<List<TokenBlock>> seen = List.of(new ArrayList<>(), new ArrayList<>());
        hammer((unused, thread, start) -> {
            if (thread > 1) {
                return;
            }
            for (Probe claim : claims) {
                barrier.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
                LockStore store = thread == 0 ? fixture.first : fixture.second;
                Reply.Granted granted = ConformanceFixture.send(store, claim.command(), Reply.Granted.class);
                seen.get(thread).add(granted.tokens());
            }
        });
        assertThat(seen.get(0)).isEqualTo(seen.get(1));
        assertThat(alice.claims()).hasSize(ROUNDS).doesNotHaveDuplicates();
        claims.forEach(Probe::release);
        assertThat(alice.claims()).isEmpty();
    }

    @Test
    @DisplayName("X7: commands that are sent without waiting for the answers are all answered")
    void commandsInFlight() throws Exception {
        hammer((client, thread, start) -> {
            List<CompletableFuture<Reply>> answers = new ArrayList<>();
            List<Probe> claims = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                Probe claim = client.mutex("own-" + thread + "-" + i % 10);
                claims.add(claim);
                answers.add(
                        client.store.execute(claim.command(), CallerMode.ASYNC).toCompletableFuture());
            }
            for (CompletableFuture<Reply> answer : answers) {
                assertThat(answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isInstanceOfAny(Reply.Granted.class, Reply.Queued.class);
            }
            assertThat(client.claims()).hasSize(10);
            assertThat(client.waiting()).hasSize(ROUNDS - 10);
            claims.forEach(
                    claim -> client.send(new Command.Withdraw(claim.ref(), Command.Sending.FIRST), Reply.Done.class));
        });
        assertThat(fixture.inspect("")).isEmpty();
    }

    private static boolean shouldContinue(int round, long start) {
        return round < ROUNDS || (round < MOST_ROUNDS && System.nanoTime() - start < WHILE.toNanos());
    }

    /** Gives others the time to come in where they must not. */
    private static void stay(Probe claim) {
        LockSupport.parkNanos(20_000);
        claim.expectHeld();
    }

    private static TokenBlock await(Probe claim) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        Reply state = ConformanceFixture.send(claim.client().store, claim.command());
        while (state instanceof Reply.Queued && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(200_000);
            state = claim.state();
        }
        if (state instanceof Reply.Granted granted) {
            return granted.tokens();
        }
        throw new AssertionError(
                "The claim " + claim.ref() + " was to be granted within " + LIMIT + ", but is " + state);
    }

    private void hammer(Work work) throws Exception {
        List<TestClient> clients = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            clients.add(i % 2 == 0 ? fixture.client("thread-" + i) : fixture.other("thread-" + i));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> running = new ArrayList<>();
            CyclicBarrier barrier = new CyclicBarrier(THREADS);
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                running.add(threads.submit(() -> {
                    barrier.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
                    work.run(clients.get(thread), thread, System.nanoTime());
                    return null;
                }));
            }
            for (Future<?> one : running) {
                join(one);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void join(Future<?> one) throws Exception {
        try {
            one.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e;
        } catch (TimeoutException e) {
            throw new AssertionError("The threads did not come to an end within " + LIMIT, e);
        }
    }
}
