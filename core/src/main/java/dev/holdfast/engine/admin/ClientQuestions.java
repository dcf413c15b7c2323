package dev.holdfast.engine.admin;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends inspections to the store of a client.
 *
 * @param sender a separate sender: an unanswered inspection does not count as a failure of the partitions
 */
record ClientQuestions(ClientContext context, CommandSender sender) implements StoreQuestions {

    @Override
    public CompletableFuture<Reply> ask(Command command, CallerMode caller) {
        context.requireOpen();
        CompletableFuture<Reply> answer = sender.askWithin(
                command, caller, context.options().storeTimeout().toNanos());
        context.life().endWithClient(answer);
        return answer;
    }

    @Override
    public <T extends @Nullable Object> CompletionStage<T> forUsers(CompletableFuture<T> result) {
        return context.callbacks().relay(result);
    }

    @Override
    public RuntimeException explain(RuntimeException failure) {
        return context.isClosing() ? context.failures().closed() : failure;
    }
}
