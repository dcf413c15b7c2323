package dev.holdfast.engine.latch;

import dev.holdfast.Environment;
import dev.holdfast.LockMismatchException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.session.EpochGuardedCall;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * Both commands are idempotent: a count-down by its id, SetCount by its generation, which no other call chooses. An
 * unanswered command is therefore sent again, and one that arrives late has no effect: its id has counted before, or
 * its generation is not after the current one. The epoch is still raised before SetCount is repeated, since a store may
 * have forgotten the generation by the time a very late duplicate arrives.
 */

/** Repeats one command about a latch until its outcome is known. Completes once; callers hold no lock of the engine. */
public final class LatchCall implements CommandSender.Answer, EpochGuardedCall.Outcome {

    /**
     * The reply of the store.
     *
     * @param sending which sending was answered: a repeated one may report what an earlier one has changed
     */
    public record Answer(long generation, long remaining, Sending sending) {}

    private final ClientContext context;
    private final Partition partition;
    private final ResourceName name;
    private final @Nullable Command plain;
    private final EpochGuardedCall.@Nullable Maker ofSession;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    // Only one command is under way at a time.
    private volatile int failures;

    private LatchCall(
            Partition partition,
            ResourceName name,
            @Nullable Command plain,
            EpochGuardedCall.@Nullable Maker ofSession) {
        this.context = partition.context;
        this.partition = partition;
        this.name = name;
        this.plain = plain;
        this.ofSession = ofSession;
    }

    /** Sends a count-down. One of generation 0, which no latch has, changes nothing: it only reads. */
    public static CompletableFuture<Answer> countDown(
            Partition partition, ResourceName name, long generation, String id, CallerMode caller) {
        Command command = new Command.CountDown(name, generation, id, 1);
        return new LatchCall(partition, name, command, null)
                .begin(caller, () -> partition.context.failures().uncounted(name.value(), id));
    }

    static CompletableFuture<Answer> setCount(
            Partition partition, ResourceName name, long generation, long count, CallerMode caller) {
        return new LatchCall(
                        partition,
                        name,
                        null,
                        (session, epoch) -> new Command.SetCount(name, session, epoch, generation, count))
                .begin(caller, () -> partition.context.failures().unknownCount(name.value()));
    }

    private CompletableFuture<Answer> begin(CallerMode caller, Supplier<RuntimeException> timedOut) {
        Environment.Timer alarm = context.environment()
                .schedule(
                        context.options().storeTimeout().toNanos(), () -> answer.completeExceptionally(timedOut.get()));
        var unused = answer.whenComplete((done, failure) -> alarm.cancel());
        context.life().endWithClient(answer);
        send(caller);
        return answer;
    }

    private void send(CallerMode caller) {
        if (answer.isDone()) {
            return;
        }
        if (plain != null) {
            partition.wire.send(plain, caller, this);
        } else if (ofSession != null) {
            send(ofSession, caller);
        }
    }

    private void send(EpochGuardedCall.Maker maker, CallerMode caller) {
        Session present = partition.session();
        if (present == null) {
            partition.needSession(caller);
            present = partition.session();
        }
        if (present == null) {
            partition.awaitSession(() -> send(CallerMode.ASYNC), this::sendLater);
        } else {
            EpochGuardedCall.send(partition, present, maker, caller, this);
        }
    }

    private void sendLater() {
        Backoff.RESEND.retry(context.environment(), failures, this::again);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one command at a time
    private void again() {
        failures++;
        send(CallerMode.ASYNC);
    }

    @Override
    public void reply(Reply reply, long sentAt) {
        replied(reply);
    }

    @Override
    public void failure(StoreException failure, long sentAt) {
        failed(failure);
        partition.troubled(failure);
    }

    @Override
    public void replied(Reply reply) {
        if (reply instanceof Reply.Count count) {
            answer.complete(
                    new Answer(count.generation(), count.remaining(), failures == 0 ? Sending.FIRST : Sending.REPEAT));
        } else if (reply instanceof Reply.Refused refused) {
            answer.completeExceptionally(new LockMismatchException(name.value(), context.product(), refused.detail()));
        } else {
            answer.completeExceptionally(context.storeFailure(name.value(), ProtocolViolation.reply(reply)));
        }
    }

    @Override
    public void sessionEnded() {
        sendLater();
    }

    @Override
    public void failed(StoreException failure) {
        if (failure.reason() == StoreException.Reason.UNAVAILABLE) {
            sendLater();
        } else {
            answer.completeExceptionally(context.storeFailure(name.value(), failure));
        }
    }
}
