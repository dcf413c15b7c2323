package dev.holdfast.engine.admin;

import dev.holdfast.Environment;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.HealthReport;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.BoundedWait;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Partitions;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the store answers: inspects a name in each partition in use, all at the same time, and combines the
 * results with the state of the sessions. The check ends within its bound even if the store hangs: it waits for a timer
 * and not for the store, and the waiting thread sends no commands. Thread-safe.
 */
public final class HealthProbe {

    /** A name that is never in use. */
    private static final String NAME = "holdfast-health-check";

    /** Names are spread over partitions at random: with this many attempts for each, none is missed. */
    private static final int NAMES_PER_PARTITION = 64;

    /** Within about 0.3 s: one lost message is not an outage, and an outage is reported soon. */
    private static final int MOST_REPETITIONS = 5;

    private final ClientContext context;
    private final Partitions partitions;
    private final CommandSender sender;
    private final ClientMonitor monitor;
    /** A name of each partition; null where none was searched yet. */
    private final AtomicReferenceArray<@Nullable ResourceName> names;

    /**
     * Makes the probe of a client.
     *
     * @param sender a separate sender: an unanswered probe does not count as a failure of the partitions
     */
    public HealthProbe(Partitions partitions, CommandSender sender, ClientMonitor monitor) {
        this.context = partitions.context;
        this.partitions = partitions;
        this.sender = sender;
        this.monitor = monitor;
        this.names = new AtomicReferenceArray<>(partitions.count());
    }

    /** Checks, and waits for the result, at most for the bound. */
    public HealthReport check(Duration bound) {
        CompletableFuture<HealthReport> report = begin(bound);
        Environment environment = context.environment();
        return BoundedWait.await(environment, report, bound.toNanos()) ? report.join() : unanswered(bound);
    }

    /** Checks without blocking: the stage completes within the bound, on the callback executor. */
    public CompletionStage<HealthReport> checkAsync(Duration bound) {
        return context.callbacks().relay(begin(bound));
    }

    private CompletableFuture<HealthReport> begin(Duration bound) {
        CompletableFuture<HealthReport> report = new CompletableFuture<>();
        Environment.Timer alarm =
                context.environment().schedule(bound.toNanos(), () -> report.complete(unanswered(bound)));
        var unusedAlarm = report.whenComplete((value, failure) -> alarm.cancel());
        long start = context.environment().monotonicNanos();
        CompletableFuture<?>[] answers = names().stream().map(this::ask).toArray(CompletableFuture<?>[]::new);
        var unused = CompletableFuture.allOf(answers).whenComplete((done, failure) -> {
            long took = context.environment().monotonicNanos() - start;
            report.complete(failure == null ? answered(Duration.ofNanos(took)) : failed(failure));
        });
        return report;
    }

    private CompletableFuture<Reply> ask(ResourceName name) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        context.life().endWithClient(answer);
        ask(name, 0, answer);
        return answer;
    }

    private void ask(ResourceName name, int failures, CompletableFuture<Reply> answer) {
        CompletableFuture<Reply> asked = sender.ask(
                new Inspect(name.value(), Optional.empty(), 1, Inspect.Scope.NAME),
                // Never on the waiting thread, whose wait is bounded.
                CallerMode.ASYNC);
        var unused = asked.whenComplete((reply, failure) -> {
            if (failure == null) {
                answer.complete(reply);
            } else if (failures < MOST_REPETITIONS
                    && failure instanceof StoreException known
                    && known.reason() == StoreException.Reason.UNAVAILABLE) {
                Backoff.RESEND.retry(context.environment(), failures, () -> ask(name, failures + 1, answer));
            } else {
                answer.completeExceptionally(failure);
            }
        });
    }

    /** A name of each partition that is in use, or of the first one. */
    private List<ResourceName> names() {
        List<ResourceName> used = partitions.used().stream()
                .map(this::nameIn)
                .flatMap(Optional::stream)
                .toList();
        return used.isEmpty() ? List.of(new ResourceName(NAME)) : used;
    }

    private Optional<ResourceName> nameIn(Partition partition) {
        ResourceName known = names.get(partition.number);
        for (int i = 0; known == null && i < NAMES_PER_PARTITION * partitions.count(); i++) {
            ResourceName name = new ResourceName(i == 0 ? NAME : NAME + "-" + i);
            names.compareAndSet(partitions.numberOf(name), null, name);
            known = names.get(partition.number);
        }
        return Optional.ofNullable(known);
    }

    // ---- Reports

    private HealthReport answered(Duration roundTrip) {
        ClientState state = monitor.state();
        Optional<String> problem = Optional.ofNullable(
                switch (state.status()) {
                    case CONNECTED -> null;
                    case TROUBLED ->
                        "The store " + context.product()
                                + " responds to queries, but keep-alives are failing; current holds expire "
                                + "in "
                                + DurationFormat.format(state.sessionLeft().orElse(Duration.ZERO));
                    case DISCONNECTED ->
                        "The store " + context.product()
                                + " responds, but the session has ended. A new session is being opened; "
                                + "until then nothing is held";
                    case CLOSED -> "This client of " + context.product() + " is closed";
                });
        return new HealthReport(Optional.of(roundTrip), state, problem);
    }

    private HealthReport failed(Throwable failure) {
        Throwable cause = Stages.causeOf(failure);
        String problem = context.isClosing()
                ? "This client of " + context.product() + " is closed"
                : cause instanceof StoreException known
                        ? "The store " + context.product() + " can't be queried: " + known.getMessage()
                        : "The store " + context.product() + " failed unexpectedly: " + cause;
        return new HealthReport(Optional.empty(), monitor.state(), Optional.of(problem));
    }

    private HealthReport unanswered(Duration bound) {
        return new HealthReport(
                Optional.empty(),
                monitor.state(),
                Optional.of(
                        "The store " + context.product() + " did not answer within " + DurationFormat.format(bound)));
    }
}
