package dev.holdfast.engine.barrier;

import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.util.concurrent.CompletableFuture;

/**
 * Writes the number of a barrier under one session and no other: the one that the lock of the door hangs on. Ends when
 * it is known whether it is written, or when it can't take effect any more.
 */
final class BarrierOpening implements CommandSender.Answer {

    private final StorePart part;
    private final ResourceName opened;
    private final Session session;
    private final long number;
    private final CompletableFuture<Boolean> result = new CompletableFuture<>();

    // Only one sending is under way at a time.
    private volatile long epoch;
    private volatile int sendings;

    private BarrierOpening(StorePart part, ResourceName opened, Session session, long number) {
        this.part = part;
        this.opened = opened;
        this.session = session;
        this.number = number;
    }

    /** Ends with whether the number is surely written. */
    static CompletableFuture<Boolean> begin(StorePart part, ResourceName opened, Session session, long number) {
        BarrierOpening opening = new BarrierOpening(part, opened, session, number);
        opening.send();
        return opening.result;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one sending at a time
    private void send() {
        if (!session.isAlive() || part.context.isClosing()) {
            // What was sent before had no effect.
            result.complete(false);
            return;
        }
        epoch = session.epoch;
        sendings++;
        part.wire.send(new Command.SetCount(opened, session.id, epoch, number, 1), Caller.GOES_ON, this);
    }

    @Override
    public void reply(Reply reply, long sentAt) {
        if (reply instanceof Reply.Stale) {
            part.keeper.afterRaise(session, epoch, sendings - 1, this::send);
            return;
        }
        if (reply instanceof Reply.SessionEnded) {
            part.keeper.endedAtStore(session);
        }
        result.complete(reply instanceof Reply.Count count && count.generation() == number);
    }

    @Override
    public void failure(StoreException failure, long sentAt) {
        if (failure.effect() == Effect.UNKNOWN) {
            part.keeper.afterRaise(session, epoch, this::endUnknown);
        } else {
            result.complete(false);
        }
        part.troubled(failure);
    }

    /** It may have been written, but it will not be from here on. */
    private void endUnknown() {
        if (session.isAlive()) {
            result.complete(false);
        } else {
            session.afterRetirement(() -> result.complete(false));
        }
    }
}
