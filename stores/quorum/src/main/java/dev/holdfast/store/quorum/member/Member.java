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

/** One of the stores. Every command to it gets exactly one answer, as a separate event and within its time-out. */
public final class Member {

    /** Receives the answer to one command. */
    public interface Answer {
        /** The reply, or why there is none; called once. */
        void answered(@Nullable Reply reply, @Nullable StoreException failure);

        /** A reply that arrived after the time-out had been reported as a failure. */
        default void late(Reply reply) {}
    }

    /** A command in flight. */
    private static final class Request {
        final Answer answer;
        final long sentAt;
        boolean isAnswered;

        Request(Answer answer, long sentAt) {
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
    private final long timeoutNanos;

    /** In the order of sending, which is also that of their time-outs. */
    private final Deque<Request> inFlight = new ArrayDeque<>();

    private boolean isTimerSet;

    public Member(EventLoop loop, long timeoutNanos, int index, LockStore store, String name) {
        this.loop = loop;
        this.timeoutNanos = timeoutNanos;
        this.index = index;
        this.store = store;
        this.name = name;
    }

    public void ask(Command command, Answer answer) {
        Request request = new Request(answer, loop.now());
        inFlight.add(request);
        setTimer();
        if (command instanceof Command.KeepAlive keepAlive) {
            shortenTimeout(request, keepAlive.responseTimeout().toNanos());
        }
        CompletionStage<Reply> stage;
        try {
            stage = store.execute(command, CallerMode.ASYNC);
        } catch (RuntimeException e) {
            loop.post(() -> end(request, null, asStoreException(e)));
            return;
        }
        var unused = stage.whenComplete((reply, failure) ->
                loop.post(() -> end(request, reply, failure == null ? null : asStoreException(failure))));
    }

    private void end(Request request, @Nullable Reply reply, @Nullable StoreException failure) {
        if (!request.isAnswered) {
            request.isAnswered = true;
            inFlight.remove(request);
            request.answer.answered(reply, failure);
        } else if (reply != null) {
            request.answer.late(reply);
        }
    }

    /** Applies the shorter time-out of a keep-alive for a short session. */
    private void shortenTimeout(Request request, long shorter) {
        if (shorter < timeoutNanos) {
            loop.later(shorter, () -> timeOut(request, shorter));
        }
    }

    private void timeOut(Request request, long nanos) {
        if (!request.isAnswered) {
            end(
                    request,
                    null,
                    new StoreException(
                            Reason.UNAVAILABLE,
                            Effect.UNKNOWN,
                            "it did not answer within " + DurationFormat.format(Duration.ofNanos(nanos)),
                            null));
        }
    }

    private void setTimer() {
        Request oldest = inFlight.peekFirst();
        if (!isTimerSet && oldest != null) {
            isTimerSet = true;
            loop.later(oldest.sentAt + timeoutNanos - loop.now(), this::timeOutOverdue);
        }
    }

    private void timeOutOverdue() {
        isTimerSet = false;
        for (Request oldest = inFlight.peekFirst();
                oldest != null && loop.now() - oldest.sentAt >= timeoutNanos;
                oldest = inFlight.peekFirst()) {
            timeOut(oldest, timeoutNanos);
        }
        setTimer();
    }

    private static StoreException asStoreException(Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof StoreException known
                ? known
                : new StoreException(
                        Reason.UNAVAILABLE, Effect.UNKNOWN, "an unexpected error occurred: " + cause, cause);
    }

    @Override
    public String toString() {
        return name;
    }
}
