package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import dev.holdfast.verification.world.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A scheduled task between two clients of one SQLite file")
@Tag("G2")
class ScheduledTaskSqliteTest {

    private static final int THREADS = 4;
    private static final int TICKS = 25;
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path folder;

    @Test
    @Tag("G1")
    @DisplayName("is run once for each tick, by whoever comes first, however short it is")
    void oncePerTick() throws Exception {
        String uri = "sqlite:" + folder.resolve("locks.db");
        ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);
        AtomicInteger runs = new AtomicInteger();
        CyclicBarrier tick = new CyclicBarrier(2 * THREADS);
        try (Holdfast alice = Holdfast.connect(uri);
                Holdfast bob = Holdfast.connect(uri)) {
            List<Future<Integer>> runners = new ArrayList<>();
            for (int i = 0; i < 2 * THREADS; i++) {
                Holdfast client = i % 2 == 0 ? alice : bob;
                runners.add(threads.submit(() -> {
                    int mine = 0;
                    for (int due = 1; due <= TICKS; due++) {
                        ScheduledTaskLock task = client.task("tick-" + due);
                        tick.await(60, TimeUnit.SECONDS);
                        TaskRun<Integer> run = task.<Integer, RuntimeException>callIfDue(
                                TaskOptions.atMost(HOUR).withAtLeast(HOUR), hold -> runs.incrementAndGet());
                        mine += run.hasRun() ? 1 : 0;
                    }
                    return mine;
                }));
            }
            int told = 0;
            for (Future<Integer> runner : runners) {
                told += runner.get(100, TimeUnit.SECONDS);
            }
            assertThat(runs).hasValue(TICKS);
            assertThat(told).isEqualTo(TICKS);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @Tag("G5")
    @DisplayName("keeps its least time when its client is gone, and is due again after it")
    void outlivesItsClient() {
        String uri = "sqlite:" + folder.resolve("locks.db");
        try (Holdfast alice = Holdfast.connect(uri)) {
            assertThat(alice.task("report")
                            .<String, RuntimeException>callIfDue(
                                    TaskOptions.atMost(HOUR).withAtLeast(HOUR), hold -> "done")
                            .hasRun())
                    .isTrue();
            assertThat(alice.task("brief")
                            .<String, RuntimeException>callIfDue(
                                    TaskOptions.atMost(HOUR).withAtLeast(Duration.ofSeconds(1)), hold -> "done")
                            .hasRun())
                    .isTrue();
        }
        try (Holdfast bob = Holdfast.connect(uri)) {
            assertThat(bob.task("report")
                            .<String, RuntimeException>callIfDue(
                                    TaskOptions.atMost(HOUR).withAtLeast(HOUR), hold -> "done")
                            .hasRun())
                    .isFalse();
            Eventually.holds(
                    "the brief one is due again",
                    () -> bob.task("brief")
                            .<String, RuntimeException>callIfDue(
                                    TaskOptions.atMost(HOUR).withAtLeast(HOUR), hold -> "done")
                            .hasRun());
        }
    }
}
