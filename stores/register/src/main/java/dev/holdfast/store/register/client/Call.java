package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Waiting;
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
 * @param queuing the claim that is made, if it may wait and so may be announced
 */
record Call(
        Function<Step, Answer> part,
        Optional<SessionId> session,
        boolean mayGuess,
        Optional<Acquire> queuing,
        CompletableFuture<Reply> reply) {

    static Call of(Command.OnResource command) {
        return new Call(
                step -> step.execute(command),
                Optional.empty(),
                command instanceof Acquire,
                command instanceof Acquire claim && claim.waiting() == Waiting.QUEUE
                        ? Optional.of(claim)
                        : Optional.empty(),
                new CompletableFuture<>());
    }

    static Call poll(ClaimRef claim) {
        return new Call(
                step -> step.poll(claim),
                Optional.of(claim.session()),
                false,
                Optional.empty(),
                new CompletableFuture<>());
    }

    /** Whether it only looks at a claim. */
    boolean isPoll() {
        return session.isPresent();
    }

    /** Whether it is likely to write, and can't be left to others. */
    boolean isUrgent() {
        return !isPoll() && queuing.isEmpty();
    }

    /** Does nothing but what each step does: drops what is over, and admits who can go on. */
    static Call look() {
        return new Call(
                step -> Answer.of(new Reply.Done()),
                Optional.empty(),
                false,
                Optional.empty(),
                new CompletableFuture<>());
    }
}
