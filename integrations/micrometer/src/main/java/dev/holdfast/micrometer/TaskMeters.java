package dev.holdfast.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The meters of the scheduled tasks that a client has run, each tagged with its name; beyond a bound, tasks share a
 * tag. Thread-safe.
 */
final class TaskMeters {

    private static final String OTHER_TASKS = "other";

    /** A bound, since names are data of the program, and each is a dozen time series. */
    private final int mostNames;

    private final MeterRegistry registry;
    private final String client;

    @GuardedBy("this")
    private final Map<String, LastRun> lastRuns = new HashMap<>();

    TaskMeters(MeterRegistry registry, String client, int mostNames) {
        this.registry = registry;
        this.client = client;
        this.mostNames = mostNames;
    }

    /** Counts a run that has ended. */
    synchronized void ended(String task, RecordedRun run) {
        boolean isNamed = lastRuns.containsKey(task) || lastRuns.size() < mostNames;
        Tags tags = Tags.of("client", client, "task", isNamed ? task : OTHER_TASKS);
        Timer.builder("holdfast.task.runs")
                .description("Runs of scheduled tasks, from start to end")
                .tags(tags.and("outcome", TagValue.of(run.outcome())))
                .register(registry)
                .record(run.took().filter(time -> !time.isNegative()).orElse(Duration.ZERO));
        if (isNamed) {
            LastRun last = lastRuns.computeIfAbsent(task, name -> new LastRun(registry, tags));
            run.started().ifPresent(last::started);
            run.ended().ifPresent(end -> last.ended(end, run.outcome()));
        }
    }

    /** When a task last began, and when it last ended with each outcome. */
    private static final class LastRun {
        private final MeterRegistry registry;
        private final Tags tags;
        private final Map<Outcome, AtomicLong> ends = new EnumMap<>(Outcome.class);
        private @Nullable AtomicLong start;

        LastRun(MeterRegistry registry, Tags tags) {
            this.registry = registry;
            this.tags = tags;
        }

        void started(Instant time) {
            AtomicLong known = start;
            if (known == null) {
                start = gauge("holdfast.task.last.start", "Start of the last run of a task that has ended", tags, time);
            } else {
                known.set(time.toEpochMilli());
            }
        }

        void ended(Instant time, Outcome outcome) {
            ends.computeIfAbsent(
                            outcome,
                            key -> gauge(
                                    "holdfast.task.last.end",
                                    "End of the last run of a task with this outcome",
                                    tags.and("outcome", TagValue.of(outcome)),
                                    time))
                    .set(time.toEpochMilli());
        }

        /** A time since 1970. */
        private AtomicLong gauge(String name, String description, Tags allTags, Instant first) {
            AtomicLong millis = new AtomicLong(first.toEpochMilli());
            TimeGauge.builder(name, millis, TimeUnit.MILLISECONDS, AtomicLong::get)
                    .description(description)
                    .tags(allTags)
                    .strongReference(true)
                    .register(registry);
            return millis;
        }
    }
}
