package dev.holdfast.engine.session;

import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.concurrent.CompletableFuture;

/**
 * Sends a command that changes a resource itself, under one session. It carries the session's epoch, so it has no
 * effect after the epoch was raised. If another call raised the epoch, the command is sent again; if its effect is
 * unknown, the epoch is raised before the failure is reported. Callers hold no lock of the engine.
 */
public final class EpochGuardedCall implements CommandSender.Answer {

    /** Makes the command for the session and epoch under which it is sent. */
    @FunctionalInterface
    public interface Maker {
        Command make(SessionId session, long epoch);
    }

    /** Receives the outcome of a call: one of these methods is called, once, without any lock. */
    public interface Outcome {
        /** The store answered. */
        void replied(Reply reply);

        /** The session has ended before the command took effect. */
        void sessionEnded();

        /** The store failed; the command has no effect from now on, or none once its session is retired. */
        void failed(StoreException failure);
    }

    private final Partition partition;
    private final Session session;
    private final Maker maker;
    private final Outcome outcome;

    // Only one sending is in flight at a time.
    private volatile long epoch;
    private volatile int stale;

    private EpochGuardedCall(Partition partition, Session session, Maker maker, Outcome outcome) {
        this.partition = partition;
        this.session = session;
        this.maker = maker;
        this.outcome = outcome;
    }

    /** Sends a command under a session. */
    public static void send(Partition partition, Session session, Maker maker, CallerMode caller, Outcome outcome) {
        new EpochGuardedCall(partition, session, maker, outcome).send(caller);
    }

    /**
     * Sends a command under the present session, or the next, and retries it while the store is unavailable, within the
     * store time-out. The command must be idempotent.
     *
     * @return a future that ends with the reply, or fails with a {@link StoreException}
     */
    public static CompletableFuture<Reply> ask(Partition partition, Maker maker) {
        return new Repeated(partition, maker).begin();
    }

    private static final class Repeated implements Outcome {
        private final Partition partition;
        private final Maker maker;
        private final long until;
        private final CompletableFuture<Reply> answer = new CompletableFuture<>();

        // Only one sending is in flight at a time.
        private volatile int failures;

        Repeated(Partition partition, Maker maker) {
            this.partition = partition;
            this.maker = maker;
            this.until = partition.context.clock().now()
                    + partition.context.options().storeTimeout().toNanos();
        }

        CompletableFuture<Reply> begin() {
            partition.context.life().endWithClient(answer);
            ask();
            return answer;
        }

        private void ask() {
            Session present = partition.session();
            if (answer.isDone()) {
                return;
            }
            if (present == null) {
                partition.awaitSession(
                        this::ask,
                        () -> failed(new StoreException(
                                Reason.UNAVAILABLE,
                                Effect.NONE,
                                "this client has no session at the store at present",
                                null)));
            } else {
                EpochGuardedCall.send(partition, present, maker, CallerMode.ASYNC, this);
            }
        }

        @Override
        public void replied(Reply reply) {
            answer.complete(reply);
        }

        @Override
        public void sessionEnded() {
            ask();
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one sending at a time
        public void failed(StoreException failure) {
            long pause = Backoff.RESEND.pause(partition.context.environment(), failures++);
            if (failure.reason() == Reason.UNAVAILABLE
                    && until - partition.context.clock().now() - pause > 0) {
                partition.context.environment().schedule(pause, this::ask);
            } else {
                answer.completeExceptionally(failure);
            }
        }
    }

    private void send(CallerMode caller) {
        if (!session.isAlive()) {
            outcome.sessionEnded();
            return;
        }
        epoch = session.epoch();
        partition.wire.send(maker.make(session.id, epoch), caller, this);
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one sending at a time
    public void reply(Reply reply, long sentAt) {
        if (reply instanceof Reply.Stale) {
            partition.keeper.afterRaise(session, epoch, stale++, () -> send(CallerMode.ASYNC));
        } else if (reply instanceof Reply.SessionEnded) {
            partition.keeper.endedAtStore(session);
            outcome.sessionEnded();
        } else {
            outcome.replied(reply);
        }
    }

    @Override
    public void failure(StoreException failure, long sentAt) {
        if (failure.effect() == Effect.UNKNOWN) {
            partition.keeper.afterRaise(session, epoch, () -> outcome.failed(failure));
        } else {
            outcome.failed(failure);
        }
        partition.troubled(failure);
    }
}
