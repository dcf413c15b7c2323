package dev.holdfast.engine.admin;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A way to ask a store for an operator: every question is answered in time, or fails. Thread-safe. */
interface StoreQuestions {

    /**
     * Sends a command.
     *
     * @return what ends with the reply, or with a {@link dev.holdfast.spi.StoreException} within the time-out
     * @throws dev.holdfast.ClientClosedException if there is a client, and it is closed
     */
    CompletableFuture<Reply> ask(Command command, CallerMode caller);

    /** The same result for users, completed where their code may run. */
    <T extends @Nullable Object> CompletionStage<T> forUsers(CompletableFuture<T> result);

    /** What explains a failure better, if anything does: the close of the client. */
    RuntimeException explain(RuntimeException failure);
}
