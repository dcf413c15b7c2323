package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.Answer;
import dev.holdfast.store.register.machine.Step;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Something that is to be done on a resource, and who waits for the answer.
 *
 * @param part what is done in a step
 * @param session the session whose claim is looked at, where that is all
 * @param mayGuess whether it is likely the first that this client does on the resource
 */
record Call(
        Function<Step, Answer> part, Optional<SessionId> session, boolean mayGuess, CompletableFuture<Reply> reply) {

    static Call of(Command.OnResource command) {
        return new Call(
                step -> step.execute(command),
                Optional.empty(),
                command instanceof Command.Acquire,
                new CompletableFuture<>());
    }

    static Call poll(ClaimRef claim) {
        return new Call(step -> step.poll(claim), Optional.of(claim.session()), false, new CompletableFuture<>());
    }

    /** Does nothing but what each step does: drops what is over, and admits who can go on. */
    static Call look() {
        return new Call(step -> Answer.of(new Reply.Done()), Optional.empty(), false, new CompletableFuture<>());
    }
}
