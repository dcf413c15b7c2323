package dev.holdfast.engine.session;

import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.concurrent.CompletableFuture;

/** Commands that change a resource itself, and carry an epoch so that none takes effect after its time. */
public final class EpochGuardedCall {

    /** Makes the command for the session and epoch under which it is sent. */
    @FunctionalInterface
    public interface Maker {
        Command make(SessionId session, long epoch);
    }

    private EpochGuardedCall() {}

    /**
     * Sends a command under the present session, again if another had raised the epoch. Where its outcome stays unknown
     * the epoch is raised before that is told, so that it has no effect afterwards.
     *
     * @return a future that ends with the reply, or fails with a {@link StoreException}
     */
    public static CompletableFuture<Reply> send(StorePart part, Maker maker) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        send(part, maker, 0, answer);
        return answer;
    }

    private static void send(StorePart part, Maker maker, int stale, CompletableFuture<Reply> answer) {
        Session session = part.session();
        if (session == null || !session.isAlive()) {
            part.awaitSession(
                    () -> send(part, maker, stale, answer),
                    () -> answer.completeExceptionally(new StoreException(
                            Reason.UNAVAILABLE,
                            Effect.NONE,
                            "this client has no session at the store just now",
                            null)));
            return;
        }
        long epoch = session.epoch;
        part.wire.send(maker.make(session.id, epoch), Caller.GOES_ON, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.Stale) {
                    part.keeper.afterRaise(session, epoch, stale, () -> send(part, maker, stale + 1, answer));
                } else if (reply instanceof Reply.SessionEnded) {
                    part.keeper.endedAtStore(session);
                    failure(ProtocolViolation.reply(reply), sentAt);
                } else {
                    answer.complete(reply);
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                if (failure.effect() == Effect.UNKNOWN) {
                    part.keeper.afterRaise(session, epoch, () -> answer.completeExceptionally(failure));
                } else {
                    answer.completeExceptionally(failure);
                }
            }
        });
    }
}
