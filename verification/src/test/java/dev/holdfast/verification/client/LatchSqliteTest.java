package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A count-down latch between two clients on SQLite")
@Tag("N2")
class LatchSqliteTest {

    private static final int WORKERS = 6;

    @TempDir
    private Path directory;

    private Holdfast connect() {
        return Holdfast.connect("sqlite:" + directory.resolve("locks.db"));
    }

    @Test
    @Tag("N1")
    @Tag("N3")
    @DisplayName("is set by one of all that try, counts what all count, each id once, and lets all pass, over and over")
    void generations() throws Exception {
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
            for (int round = 0; round < 4; round++) {
                List<Callable<Boolean>> setting = new ArrayList<>();
                List<Callable<Boolean>> working = new ArrayList<>();
                for (int i = 0; i < WORKERS; i++) {
                    DistributedCountDownLatch latch = (i % 2 == 0 ? alice : bob).latch("imported");
                    String id = "worker-" + i;
                    setting.add(() -> latch.trySetCount(WORKERS));
                    working.add(() -> {
                        latch.countDown(id);
                        latch.countDown(id);
                        return latch.await(Duration.ofMinutes(1));
                    });
                }
                assertThat(results(threads, setting)).containsOnlyOnce(true);
                assertThat(alice.latch("imported").count()).isEqualTo(WORKERS);
                assertThat(results(threads, working)).containsOnly(true);
                assertThat(bob.latch("imported").count()).isZero();
            }
            threads.shutdown();
        }
    }

    @Test
    @DisplayName("lets all threads pass that wait when it opens, though it is set anew at once")
    void setAnewAtOnce() throws Exception {
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            DistributedCountDownLatch awaited = alice.latch("imported");
            DistributedCountDownLatch counted = bob.latch("imported");
            List<Thread> awaiting = new CopyOnWriteArrayList<>();
            ExecutorService threads = Executors.newFixedThreadPool(WORKERS, task -> {
                Thread thread = new Thread(task);
                awaiting.add(thread);
                return thread;
            });
            for (int round = 0; round < 15; round++) {
                assertThat(counted.trySetCount(1)).isTrue();
                List<Future<Boolean>> waiting = new ArrayList<>();
                for (int i = 0; i < WORKERS; i++) {
                    waiting.add(threads.submit(() -> awaited.await(Duration.ofMinutes(1))));
                }
                Eventually.holds(
                        "all wait",
                        () -> awaiting.size() == WORKERS
                                && awaiting.stream().allMatch(thread -> LockSupport.getBlocker(thread) == awaited));
                for (int i = 0; i < 2 * WORKERS; i++) {
                    // Comes to the store after what was asked for those who wait.
                    assertThat(awaited.count()).isOne();
                }
                counted.countDown();
                assertThat(counted.trySetCount(1)).isTrue();
                for (Future<Boolean> one : waiting) {
                    assertThat(one.get(30, TimeUnit.SECONDS)).isTrue();
                }
                counted.countDown();
            }
            threads.shutdown();
        }
    }

    private static List<Boolean> results(ExecutorService threads, List<Callable<Boolean>> calls) throws Exception {
        List<Future<Boolean>> futures = calls.stream().map(threads::submit).toList();
        List<Boolean> results = new ArrayList<>();
        for (Future<Boolean> future : futures) {
            results.add(future.get(2, TimeUnit.MINUTES));
        }
        return results;
    }
}
