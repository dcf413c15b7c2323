package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One of the stores. Every question to it has exactly one answer, which comes as an event of its own, and in time. */
public final class Member {

    /** Takes the answer to one command. */
    public interface Answer {
        /** The reply, or else why there is none; called once. */
        void answered(@Nullable Reply reply, @Nullable StoreException failure);

        /** A reply after the time-out, which was answered as a failure. */
        default void late(Reply reply) {}
    }

    /** A command under way. */
    private static final class Trip {
        final Answer answer;
        final long sentAt;
        boolean isAnswered;

        Trip(Answer answer, long sentAt) {
            this.answer = answer;
            this.sentAt = sentAt;
        }
    }

    public final int index;
    public final LockStore store;

    /** For people. */
    public final String name;

    private final EventLoop loop;

    /** How long it may take to answer, in nanoseconds. */
    private final long patience;

    /** In the order in which they were sent, which is that in which their time is over. */
    private final Deque<Trip> underWay = new ArrayDeque<>();

    private boolean isWatched;

    public Member(EventLoop loop, long patience, int index, LockStore store, String name) {
        this.loop = loop;
        this.patience = patience;
        this.index = index;
        this.store = store;
        this.name = name;
    }

    public void ask(Command command, Answer answer) {
        Trip trip = new Trip(answer, loop.now());
        underWay.add(trip);
        watch();
        if (command instanceof Command.KeepAlive keepAlive) {
            hurry(trip, keepAlive.responseTimeout().toNanos());
        }
        CompletionStage<Reply> stage;
        try {
            stage = store.execute(command, CallerMode.ASYNC);
        } catch (RuntimeException e) {
            loop.post(() -> end(trip, null, asStoreException(e)));
            return;
        }
        var unused = stage.whenComplete((reply, failure) ->
                loop.post(() -> end(trip, reply, failure == null ? null : asStoreException(failure))));
    }

    private void end(Trip trip, @Nullable Reply reply, @Nullable StoreException failure) {
        if (!trip.isAnswered) {
            trip.isAnswered = true;
            underWay.remove(trip);
            trip.answer.answered(reply, failure);
        } else if (reply != null) {
            trip.answer.late(reply);
        }
    }

    /** A client that renews a short session waits for less than others do. */
    private void hurry(Trip trip, long shorter) {
        if (shorter < patience) {
            loop.later(shorter, () -> timeOut(trip, shorter));
        }
    }

    private void timeOut(Trip trip, long nanos) {
        if (!trip.isAnswered) {
            end(
                    trip,
                    null,
                    new StoreException(
                            Reason.UNAVAILABLE,
                            Effect.UNKNOWN,
                            "it did not answer within " + DurationFormat.format(Duration.ofNanos(nanos)),
                            null));
        }
    }

    private void watch() {
        Trip oldest = underWay.peekFirst();
        if (!isWatched && oldest != null) {
            isWatched = true;
            loop.later(oldest.sentAt + patience - loop.now(), this::lookAround);
        }
    }

    private void lookAround() {
        isWatched = false;
        for (Trip oldest = underWay.peekFirst();
                oldest != null && loop.now() - oldest.sentAt >= patience;
                oldest = underWay.peekFirst()) {
            timeOut(oldest, patience);
        }
        watch();
    }

    private static StoreException asStoreException(Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof StoreException known
                ? known
                : new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, "it failed unexpectedly: " + cause, cause);
    }

    @Override
    public String toString() {
        return name;
    }
}
