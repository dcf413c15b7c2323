package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.ScheduledTaskLock;
import dev.holdfast.TaskRun;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The code of the page on scheduled tasks, compiled. */
@SuppressWarnings({"unused", "FutureReturnValueIgnored"})
final class TaskExamples {

    private final Archive archive = (report, token) -> report;
    private final Log log = message -> {};

    private interface Archive {
        String write(String report, long token);
    }

    private interface Log {
        void note(String message);
    }

    void schedule(Holdfast holdfast, ScheduledExecutorService timer) {
        ScheduledTaskLock nightly = holdfast.task("nightly-report");
        timer.scheduleAtFixedRate(
                () -> nightly.runIfDue(
                        Duration.ofHours(1), // at most: then others may run it, whatever became of this one
                        Duration.ofMinutes(5), // at least: nobody else starts it so soon after
                        hold -> archive.write(report(), hold.fencingToken())),
                0,
                1,
                TimeUnit.DAYS);
    }

    void result(ScheduledTaskLock nightly, Duration atMost) {
        TaskRun<Integer> run = nightly.callIfDue(atMost, Duration.ZERO, hold -> countAll());
        if (run.hasRun()) {
            log.note(run.value() + " entries");
        } else {
            log.note("not this time: " + run);
        }
    }

    void asynchronous(ScheduledTaskLock nightly, Duration atMost, Duration atLeast) {
        CompletionStage<TaskRun<Integer>> later = nightly.runIfDueAsync(atMost, atLeast, hold -> countLater());
    }

    private static String report() {
        return "";
    }

    private static int countAll() {
        return 0;
    }

    private static CompletionStage<Integer> countLater() {
        return CompletableFuture.completedFuture(0);
    }
}
