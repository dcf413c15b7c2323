package dev.holdfast.cli;

import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.Json;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Holders;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@code holdfast runs}. */
final class TaskRuns {

    private final StoreLocation location;
    private final Console console;

    TaskRuns(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /** Prints the last runs of a task, newest first. */
    void print(String task, boolean json) throws InterruptedException {
        List<RecordedRun> runs = Stores.ask(location, console, (LockAdmin admin) -> admin.runs(task))
                .orElse(List.of());
        if (json) {
            console.print(json(task, runs));
            return;
        }
        console.print(Printable.quote(task) + ": "
                + switch (runs.size()) {
                    case 0 -> "no runs are recorded";
                    case 1 -> "1 run";
                    default -> runs.size() + " runs";
                });
        runs.forEach(run -> console.print(line(run)));
    }

    private static String line(RecordedRun run) {
        StringBuilder text = new StringBuilder("  ").append(outcome(run));
        text.append(" ".repeat(Math.max(1, 10 - outcome(run).length())));
        run.started().ifPresent(at -> text.append(at).append(' '));
        took(run)
                .ifPresent(time ->
                        text.append("took ").append(DurationText.format(time)).append(' '));
        if (run.started().isPresent()) {
            text.append("by ").append(Holders.label(run.label())).append(", ");
        }
        text.append("token ").append(run.token());
        if (!run.failure().isEmpty()) {
            text.append(": ").append(Printable.escape(run.failure()));
        }
        return text.toString();
    }

    private static String json(String task, List<RecordedRun> runs) {
        Json json = new Json().beginObject().field("name", task).name("runs").beginArray();
        for (RecordedRun run : runs) {
            json.beginObject().field("outcome", outcome(run)).field("token", Long.toString(run.token()));
            run.started().ifPresent(at -> json.field("started", at.toString()));
            run.ended().ifPresent(at -> json.field("ended", at.toString()));
            took(run).ifPresent(time -> json.field("tookMillis", time.toMillis()));
            if (run.started().isPresent()) {
                json.field("owner", run.label());
            }
            if (!run.failure().isEmpty()) {
                json.field("failure", run.failure());
            }
            json.endObject();
        }
        return json.endArray().endObject().toString();
    }

    /** Not a negative time, of a clock that was set back. */
    private static Optional<Duration> took(RecordedRun run) {
        return run.took().filter(time -> !time.isNegative());
    }

    private static String outcome(RecordedRun run) {
        return run.outcome().name().toLowerCase(Locale.ROOT);
    }
}
