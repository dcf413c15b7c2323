package dev.holdfast.engine.task;

import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.LockMismatchException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/*
 * One command at a time is on its way, so this needs no lock: whoever gets its answer goes on. Only the end is raced
 * for, by the answer, the time-out and the close of the client, and the stage decides it. A claim whose end nobody
 * waits for any more is withdrawn, once it can take no effect that is not known.
 */

/** One attempt to get a hold for a task. */
final class TaskAcquisition {

    static final Mode MODE = Mode.unowned(new ResourceSpec(Kind.TASK, 1, Order.FAIR), 1);

    private static final Backoff BACKOFF = Backoff.every(Duration.ofMillis(50));

    /**
     * What came of it.
     *
     * @param hold the hold, or null if another has it
     * @param why who that is
     */
    record Result(@Nullable TaskHold hold, String why) {}

    private final TaskHolds tasks;
    private final ClientContext context;
    private final StorePart part;
    private final ResourceName name;
    private final Duration atMost;
    private final Duration atLeast;
    private final @Nullable AcquisitionObserver observer;
    private final CompletableFuture<Result> result = new CompletableFuture<>();

    /** How often a command was sent again in a row, no matter for which claim. */
    private volatile int failures;

    /** The claim that a hold was made of: it is the hold's to end. */
    private volatile @Nullable ClaimRef served;

    TaskAcquisition(TaskHolds tasks, ResourceName name, Duration atMost, Duration atLeast) {
        this.tasks = tasks;
        this.context = tasks.context;
        this.part = tasks.part(name);
        this.name = name;
        this.atMost = atMost;
        this.atLeast = atLeast;
        this.observer = context.observers().begin(name, MODE.spec().kind(), MODE.weight());
    }

    /** The part of the store that the task belongs to. */
    StorePart part() {
        return part;
    }

    /** Ends with the result, or fails with what users are told. */
    CompletableFuture<Result> begin(CallerMode caller) {
        context.life().endWithClient(result);
        ask(caller);
        if (!result.isDone()) {
            var alarm = context.environment()
                    .schedule(
                            context.options().storeTimeout().toNanos(),
                            () -> fail(context.failures().taskUnanswered(name.value(), atMost)));
            var unused = result.whenComplete((done, failure) -> {
                alarm.cancel();
                tasks.stopWaiting(this);
            });
        }
        if (observer != null) {
            var unused = result.whenComplete((done, failure) -> {
                if (result.isCancelled()) {
                    observer.notGranted(WaitEnd.CANCELLED);
                } else if (failure != null) {
                    observer.notGranted(WaitEnd.FAILED);
                } else if (done.hold() == null) {
                    observer.notGranted(WaitEnd.TAKEN);
                }
            });
        }
        return result;
    }

    /** Asks with a claim that was never sent, as soon as there is a session for it. */
    void ask() {
        ask(CallerMode.ASYNC);
    }

    private void ask(CallerMode caller) {
        if (result.isDone()) {
            return;
        }
        Session session = part.session();
        if (session == null) {
            part.needSession(CallerMode.ASYNC);
            tasks.awaitSession(this);
            return;
        }
        ClaimRef ref = part.nextRef(name, session);
        tasks.know(ref);
        send(session, ref, Sending.FIRST, caller);
    }

    private void send(Session session, ClaimRef ref, Sending sending, CallerMode caller) {
        long epoch = session.epoch;
        long steps = context.clock().steps();
        Command.Acquire acquire = new Command.Acquire(
                ref, epoch, sending, MODE.spec(), MODE.weight(), Lease.detached(atMost), Waiting.TRY, 1);
        part.wire.send(acquire, caller, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.Granted granted) {
                    granted(session, ref, sending, granted, sentAt, steps);
                } else if (reply instanceof Reply.Refused refused) {
                    tasks.forget(ref);
                    refused(refused);
                } else if (reply instanceof Reply.Stale) {
                    part.keeper.afterRaise(session, epoch, failures, () -> again(session, ref));
                } else if (reply instanceof Reply.SessionEnded) {
                    part.keeper.endedAtStore(session);
                    again(session, ref);
                } else {
                    fail(context.storeFailure(name.value(), ProtocolViolation.reply(reply)));
                    withdraw(session, ref, Sending.REPEAT);
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                failed(session, ref, epoch, sending, failure);
            }
        });
    }

    private void granted(
            Session session, ClaimRef ref, Sending sending, Reply.Granted granted, long sentAt, long steps) {
        long now = context.clock().now();
        long lease = granted.remaining().orElse(atMost).toNanos();
        long margin = context.rules().margin(atMost.toNanos(), part.wire.p99RoundTrip());
        long deadline = context.rules().deadline(sentAt, now, lease, margin);
        if (!session.isAlive() || !context.rules().isGood(now, deadline)) {
            // The answer comes too late to be of use.
            fail(context.failures().taskUnanswered(name.value(), atMost));
            withdraw(session, ref, sending);
            return;
        }
        long token = granted.tokens().first();
        TaskHold hold = new TaskHold(tasks, part, ref, session, token, atMost, atLeast, observer);
        hold.begin(deadline, now + lease, steps);
        served = ref;
        if (!result.complete(new Result(hold, ""))) {
            hold.giveUp();
        }
    }

    private void refused(Reply.Refused refused) {
        if (refused.reason() == Refusal.TAKEN) {
            result.complete(new Result(null, refused.detail()));
        } else if (refused.reason() == Refusal.EXHAUSTED) {
            fail(context.storeFailure(
                    name.value(), new StoreException(Reason.DENIED, Effect.NONE, refused.detail(), null)));
        } else {
            fail(new LockMismatchException(name.value(), context.product(), refused.detail()));
        }
    }

    private void failed(Session session, ClaimRef ref, long epoch, Sending sending, StoreException failure) {
        if (failure.reason() != Reason.UNAVAILABLE) {
            fail(context.storeFailure(name.value(), failure));
        }
        if (failure.effect() == Effect.NONE && sending == Sending.FIRST) {
            // Nothing came of it, so there is nothing to end; and a store that refuses would refuse that too.
            tasks.forget(ref);
            BACKOFF.retry(context.environment(), 0, this::ask);
        } else if (failure.effect() == Effect.UNKNOWN && context.rules().raisesEpochWhenUnknown()) {
            part.keeper.afterRaise(session, epoch, failures, () -> again(session, ref));
        } else {
            BACKOFF.retry(context.environment(), 0, () -> again(session, ref));
        }
        part.troubled(failure);
    }

    /** A sending that had no effect, or one that is not known, is over: asks once more. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one command at a time
    private void again(Session session, ClaimRef ref) {
        failures++;
        if (ref.equals(served)) {
            // Something went wrong after that.
            return;
        }
        if (context.isClosing()) {
            // The epoch is not raised any more, so a withdrawal could arrive before the claim. Neither can be helped.
            return;
        }
        if (result.isDone() || !session.isAlive()) {
            withdraw(session, ref, Sending.REPEAT);
        } else {
            send(session, ref, Sending.REPEAT, CallerMode.ASYNC);
        }
    }

    /** Withdraws a claim; after that it is asked for with another, if somebody still waits. */
    private void withdraw(Session session, ClaimRef ref, Sending outcome) {
        part.retrier.settle(
                new Command.Withdraw(ref, outcome),
                session,
                new FixedLeaseState(atMost.toNanos()),
                CallerMode.ASYNC,
                (reply, isFirst) -> {
                    tasks.forget(ref);
                    ask();
                });
    }

    private void fail(RuntimeException why) {
        result.completeExceptionally(why);
    }
}
