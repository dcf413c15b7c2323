package dev.holdfast.engine.admin;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Sends commands of operators to a store: each gets a reply in time, or fails. Thread-safe. */
interface StoreQuestions {

    /**
     * Sends a command.
     *
     * @return a future that completes with the reply, or with a {@link dev.holdfast.spi.StoreException} within the
     *     time-out
     * @throws dev.holdfast.ClientClosedException if there is a client, and it is closed
     */
    CompletableFuture<Reply> ask(Command command, CallerMode caller);

    /** The same result for users, completed on an executor for their code. */
    <T extends @Nullable Object> CompletionStage<T> forUsers(CompletableFuture<T> result);

    /** The close of the client, if that explains a failure better. */
    RuntimeException explain(RuntimeException failure);
}
