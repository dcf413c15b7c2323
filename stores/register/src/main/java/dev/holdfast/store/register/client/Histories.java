package dev.holdfast.store.register.client;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Reply.Runs.Run;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.machine.RunCodec;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The recorded runs of scheduled tasks. Thread-safe. */
final class Histories {

    /** A task runs in one process at a time, so two rarely write at the same time. */
    private static final int ATTEMPTS = 5;

    private final RegisterAdapter adapter;

    Histories(RegisterAdapter adapter) {
        this.adapter = adapter;
    }

    CompletionStage<Reply> list(Command.ListRuns command) {
        return adapter.history(command.resource())
                .thenApply(
                        found -> new Reply.Runs(runs(command.resource(), found).orElse(List.of())));
    }

    CompletionStage<Reply> record(Command.RecordRun command) {
        return record(command, ATTEMPTS);
    }

    /** Leaves the history of a newer version as it is. */
    private CompletionStage<Reply> record(Command.RecordRun command, int attempts) {
        ResourceName task = command.resource();
        return adapter.history(task).thenCompose(found -> {
            Optional<List<Run>> before = runs(task, found);
            if (before.isEmpty()) {
                return CompletableFuture.completedFuture(new Reply.Done());
            }
            byte[] next = RunCodec.encode(before.get(), command);
            return adapter.replaceHistory(task, found, next).thenCompose(isDone -> {
                if (isDone) {
                    return CompletableFuture.completedFuture(new Reply.Done());
                }
                return attempts > 1
                        ? record(command, attempts - 1)
                        : CompletableFuture.failedFuture(new StoreException(
                                StoreException.Reason.UNAVAILABLE,
                                StoreException.Effect.NONE,
                                "others keep changing the history of task '" + task + "'",
                                null));
            });
        });
    }

    private static Optional<List<Run>> runs(ResourceName task, History found) {
        return found.content().map(content -> RunCodec.decode(task, content)).orElseGet(() -> Optional.of(List.of()));
    }
}
