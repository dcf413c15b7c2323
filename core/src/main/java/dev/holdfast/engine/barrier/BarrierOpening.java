package dev.holdfast.engine.barrier;

import dev.holdfast.engine.session.EpochGuardedCall;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.util.concurrent.CompletableFuture;

/**
 * Writes the number of a barrier under the session that holds the door's lock, and under no other. Completes when it is
 * known that the number was written, or that it can no longer be.
 */
final class BarrierOpening implements EpochGuardedCall.Outcome {

    private final Session session;
    private final long number;
    private final CompletableFuture<Boolean> result = new CompletableFuture<>();

    private BarrierOpening(Session session, long number) {
        this.session = session;
        this.number = number;
    }

    /** Completes with whether the number is known to be written. */
    static CompletableFuture<Boolean> begin(Partition partition, ResourceName opened, Session session, long number) {
        BarrierOpening opening = new BarrierOpening(session, number);
        EpochGuardedCall.send(
                partition,
                session,
                (id, epoch) -> new Command.SetCount(opened, id, epoch, number, 1),
                CallerMode.ASYNC,
                opening);
        return opening.result;
    }

    @Override
    public void replied(Reply reply) {
        result.complete(reply instanceof Reply.Count count && count.generation() == number);
    }

    @Override
    public void sessionEnded() {
        result.complete(false);
    }

    /** It may have been written, but can no longer be. */
    @Override
    public void failed(StoreException failure) {
        if (failure.effect() == Effect.NONE || session.isAlive()) {
            result.complete(false);
        } else {
            session.afterRetirement(() -> result.complete(false));
        }
    }
}
