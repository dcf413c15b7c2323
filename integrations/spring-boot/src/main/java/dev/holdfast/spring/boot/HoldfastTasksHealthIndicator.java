package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Health of scheduled tasks: out of service if one of them has not succeeded, in any process, for longer than its
 * property says; down if the store of a client does not answer. What never succeeded counts from the start of this
 * application or of the oldest recorded run. Times are compared by the clocks of the machines, so the durations should
 * be longer than these differ. Thread-safe.
 */
final class HoldfastTasksHealthIndicator extends AbstractHealthIndicator {

    static final String PROPERTY = "holdfast.health-tasks";

    /** Whether a task is named. */
    static final class AreNamed implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind(PROPERTY, Bindable.mapOf(String.class, String.class))
                    .isBound();
        }
    }

    private final HoldfastClients clients;
    private final Map<String, Duration> limits;
    private final Duration bound;
    private final InstantSource clock;
    private final Instant begun;

    /** What earlier checks saw, by client and task. */
    private final Map<List<String>, Seen> seen = new ConcurrentHashMap<>();

    /** @param limits for each task, without the prefix of names, for how long it may not have run */
    HoldfastTasksHealthIndicator(
            HoldfastClients clients, Map<String, Duration> limits, Duration bound, InstantSource clock) {
        super("The health check of scheduled tasks failed");
        this.clients = clients;
        this.limits = Map.copyOf(limits);
        this.bound = bound;
        this.clock = clock;
        this.begun = clock.instant();
    }

    /** Blocks no longer than the time-out, for any number of clients and tasks. */
    @Override
    protected void doHealthCheck(Health.Builder health) {
        Map<String, Holdfast> present = clients.present();
        List<Answer> answers = ask(present);
        Map<String, String> problems = new LinkedHashMap<>();
        answers.forEach(answer -> {
            if (answer.problem != null) {
                problems.putIfAbsent(answer.client, answer.problem);
            }
        });
        health.status(present.isEmpty() ? Status.UNKNOWN : Status.UP);
        if (!present.isEmpty()) {
            Instant now = clock.instant();
            limits.forEach((task, limit) -> {
                List<Answer> ofTask = answers.stream()
                        .filter(answer -> answer.task.equals(task) && answer.problem == null)
                        .toList();
                // The success may be recorded where no answer came from, or by a newer version of the program.
                check(health, task, limit, ofTask, now, problems.isEmpty() && isReadable(ofTask));
            });
        }
        problems.forEach((client, problem) -> health.down().withDetail(client, Map.of("problem", problem)));
    }

    private void check(
            Health.Builder health, String task, Duration limit, List<Answer> answers, Instant now, boolean isSure) {
        Map<String, Object> details = new LinkedHashMap<>();
        Instant last = lastSuccess(answers, details);
        if (isSure && Duration.between(last, now).compareTo(limit) > 0) {
            details.put("problem", problem(answers, limit, details.containsKey("succeeded")));
            health.outOfService();
        }
        health.withDetail(task, details);
    }

    /** The runs of a task that a client answered, newest first, or why it did not. */
    private record Answer(
            String client,
            String task,
            List<RecordedRun> runs,
            @Nullable String problem) {}

    private List<Answer> ask(Map<String, Holdfast> present) {
        List<CompletableFuture<Answer>> asked = new ArrayList<>();
        present.forEach((name, client) -> limits.keySet()
                .forEach(task -> asked.add(CompletableFuture.completedFuture(client.namePrefix() + task)
                        .thenCompose(client::runsAsync)
                        .orTimeout(bound.toNanos(), TimeUnit.NANOSECONDS)
                        .handle((runs, failure) -> failure == null
                                ? new Answer(name, task, runs, null)
                                : new Answer(name, task, List.of(), problem(failure))))));
        return asked.stream().map(CompletableFuture::join).toList();
    }

    private String problem(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof TimeoutException
                ? "The store did not answer within " + DurationFormat.format(bound)
                : String.valueOf(cause.getMessage());
    }

    private static String problem(List<Answer> answers, Duration limit, boolean isSuccessKnown) {
        String period = DurationFormat.format(limit);
        if (answers.stream().allMatch(answer -> answer.runs.isEmpty())) {
            return "has not run for " + period;
        }
        return "has not succeeded for " + period + (isSuccessKnown ? "" : ": all recorded runs failed");
    }

    private static boolean isReadable(List<Answer> answers) {
        return answers.stream()
                .flatMap(answer -> answer.runs.stream())
                .noneMatch(run -> run.outcome() == Outcome.UNKNOWN);
    }

    /** Describes the runs of a task at all clients, and returns the time since which it has not succeeded. */
    private Instant lastSuccess(List<Answer> answers, Map<String, Object> details) {
        Instant success = null;
        Instant dropped = null;
        for (Answer answer : answers) {
            Seen known = Objects.requireNonNull(seen.compute(
                    List.of(answer.client, answer.task),
                    (key, before) -> (before == null ? Seen.NOTHING : before).with(answer.runs)));
            success = later(success, known.success);
            dropped = later(dropped, known.dropped);
        }
        if (success != null) {
            details.put("succeeded", success);
        }
        answers.stream()
                .flatMap(answer -> answer.runs.stream().limit(1))
                .max(Comparator.comparing(run -> run.ended().orElse(Instant.MIN)))
                .ifPresent(run -> details.put("lastOutcome", run.outcome()));
        Instant last = later(success, dropped);
        return last != null
                ? last
                : Stream.concat(Stream.of(begun), answers.stream().flatMap(answer -> starts(answer.runs)))
                        .min(Comparator.naturalOrder())
                        .orElse(begun);
    }

    private static Stream<Instant> starts(List<RecordedRun> runs) {
        return runs.stream().flatMap(run -> run.started().stream());
    }

    private static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isAfter(one)) ? other : one;
    }

    /**
     * What is known of the runs of a task at one client, including those that the store no longer keeps.
     *
     * @param newest the greatest token
     * @param success the end of the newest success
     * @param dropped until when runs may have succeeded that the store dropped between two checks
     */
    private record Seen(
            long newest,
            @Nullable Instant success,
            @Nullable Instant dropped) {
        private static final Seen NOTHING = new Seen(0, null, null);

        Seen with(List<RecordedRun> runs) {
            if (runs.isEmpty()) {
                return this;
            }
            Instant succeeded = runs.stream()
                    .filter(run -> run.outcome() == Outcome.SUCCEEDED || run.outcome() == Outcome.CLOSED)
                    .flatMap(run -> run.ended().stream())
                    .max(Comparator.naturalOrder())
                    .orElse(null);
            boolean areAllSeen =
                    runs.size() < RecordRun.KEPT || runs.get(runs.size() - 1).token() <= newest;
            Instant oldest = areAllSeen
                    ? null
                    : starts(runs).min(Comparator.naturalOrder()).orElse(null);
            return new Seen(Math.max(newest, runs.get(0).token()), later(success, succeeded), later(dropped, oldest));
        }
    }
}
