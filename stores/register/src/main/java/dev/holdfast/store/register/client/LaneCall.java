package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.Answer;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A call of one caller on a resource, and the future of its reply.
 *
 * @param part what it does in a step
 * @param session of a poll, the session of the claim
 * @param mayGuess whether it is likely to be this client's first call on the resource
 * @param queuing the claim that it makes, if that may wait and therefore be announced
 * @param mayBlockFor how long the thread that submits it may block for its round; zero if it must not
 */
record LaneCall(
        Function<Step, Answer> part,
        Optional<SessionId> session,
        boolean mayGuess,
        Optional<Acquire> queuing,
        Duration mayBlockFor,
        CompletableFuture<Reply> reply) {

    static LaneCall of(Command.OnResource command, Duration mayBlockFor) {
        return new LaneCall(
                step -> step.execute(command),
                Optional.empty(),
                command instanceof Acquire,
                command instanceof Acquire claim && claim.waiting() == Waiting.QUEUE
                        ? Optional.of(claim)
                        : Optional.empty(),
                mayBlockFor,
                new CompletableFuture<>());
    }

    static LaneCall poll(ClaimRef claim) {
        return new LaneCall(
                step -> step.poll(claim),
                Optional.of(claim.session()),
                false,
                Optional.empty(),
                Duration.ZERO,
                new CompletableFuture<>());
    }

    /** Whether it only reads the state of a claim. */
    boolean isPoll() {
        return session.isPresent();
    }

    /** Whether it is likely to write, and other clients can't do that for it. */
    boolean isUrgent() {
        return !isPoll() && queuing.isEmpty();
    }

    /** Does only what each step does: drops claims that have ended, and grants those that now fit. */
    static LaneCall maintain() {
        return new LaneCall(
                step -> Answer.of(new Reply.Done()),
                Optional.empty(),
                false,
                Optional.empty(),
                Duration.ZERO,
                new CompletableFuture<>());
    }
}
