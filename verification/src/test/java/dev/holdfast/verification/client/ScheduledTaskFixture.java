package dev.holdfast.verification.client;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;

/** Two clients with a task, and a thread that runs it. */
abstract class ScheduledTaskFixture {

    static final Duration HOUR = Duration.ofHours(1);
    static final Duration FIVE_MINUTES = Duration.ofMinutes(5);
    static final Duration TTL = Duration.ofSeconds(30);

    final World world = World.still();
    final FaultyLink link = world.link();
    final Holdfast alice = world.client("alice", link);
    final ScheduledTaskLock atAlice = alice.task("report");
    final ScheduledTaskLock atBob = world.client("bob").task("report");
    final Actor worker = world.actor("worker");

    @AfterEach
    void close() {
        link.mend();
        world.advance(HOUR);
        world.close();
    }

    static TaskRun<String> run(ScheduledTaskLock lock, Duration atMost, Duration atLeast) {
        return lock.<String, RuntimeException>callIfDue(
                TaskOptions.atMost(atMost).withAtLeast(atLeast), hold -> "done");
    }

    static boolean isDue(ScheduledTaskLock lock) {
        return run(lock, HOUR, Duration.ZERO).hasRun();
    }

    /** Begins a task on the worker's thread and returns when it runs; it ends on request or by an interrupt. */
    final class Running {
        final AtomicReference<Hold> hold = new AtomicReference<>();
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final Doing<TaskRun<String>> doing;

        Running(ScheduledTaskLock lock, Duration atMost, Duration atLeast) {
            doing = worker.start(() -> lock.<String, InterruptedException>callIfDue(
                    TaskOptions.atMost(atMost).withAtLeast(atLeast), granted -> {
                        hold.set(granted);
                        mayEnd.await();
                        return "done";
                    }));
            Eventually.holds("the task runs", () -> hold.get() != null);
        }

        TaskRun<String> ends() throws Exception {
            mayEnd.countDown();
            return doing.result();
        }
    }

    // ---- Once

    /** Lets time pass until somebody has done what they began. */
    <T> T comesTo(Doing<T> doing) throws Exception {
        Eventually.holds("it comes to an end", () -> {
            world.advance(Duration.ofMillis(250));
            return doing.isDone();
        });
        return doing.result();
    }
}
