package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
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
        TaskOptions options = TaskOptions.atMost(Duration.ofHours(1)) // after that, others may run it
                .withAtLeast(Duration.ofMinutes(5)); // no one starts it again sooner
        timer.scheduleAtFixedRate(
                () -> nightly.runIfDue(options, hold -> archive.write(report(), hold.fencingToken())),
                0,
                1,
                TimeUnit.DAYS);
    }

    void result(ScheduledTaskLock nightly, TaskOptions options) {
        TaskRun<Integer> run = nightly.callIfDue(options, hold -> countAll());
        if (run.hasRun()) {
            log.note(run.value() + " entries");
        } else {
            log.note("not this time: " + run);
        }
    }

    void asynchronous(ScheduledTaskLock nightly, TaskOptions options) {
        CompletionStage<TaskRun<Integer>> later = nightly.runIfDueAsync(options, hold -> countLater());
    }

    void byHand(ScheduledTaskLock nightly, TaskOptions options) {
        nightly.tryBegin(options).ifPresent(hold -> {
            try (hold) {
                importFirstHalf();
                hold.extend(options); // both times again, from now
                importSecondHalf();
            }
        });
    }

    private static void importFirstHalf() {}

    private static void importSecondHalf() {}

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
