package dev.holdfast.engine.task;

import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.PendingRevocation;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionKeeper;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A grant that hangs on nothing but its own lease. It is never renewed, so its deadline only comes nearer: by a poll
 * that tells of less than was thought. It is polled once for each ttl, when the wall clock steps, and when the store
 * says that it was taken away.
 */

/** The hold of one task, from its grant to the end of the task. Thread-safe; its lock is a leaf. */
final class TaskHold implements HoldHandle {
    private static final Logger log = LoggerFactory.getLogger(TaskHold.class);

    private static final Backoff BACKOFF = Backoff.every(Duration.ofMillis(20));

    final ClaimRef ref;
    private final TaskHolds tasks;
    private final ClientContext context;
    private final StorePart part;
    private final long token;
    private final Duration atMost;
    private final @Nullable AcquisitionObserver observer;
    private final TaskRelease ending;
    private final UserStage<ReleaseOutcome> toldOfEnd = new UserStage<>();
    private final PendingRevocation contradiction = new PendingRevocation();
    private final ReentrantLock lock = new ReentrantLock();

    // Written under lock, read without.
    private volatile long deadline;
    private volatile long clearedSteps;
    private volatile @Nullable Loss loss;
    private volatile boolean isOver;

    /** When the task began, or before that, when it was granted. */
    private volatile long beganAt;

    // Guarded by lock.
    private final List<Consumer<Loss>> listeners = new ArrayList<>(1);
    private final List<Consumer<Loss>> reactions = new ArrayList<>(1);
    private Environment.Timer timer = () -> {};
    private boolean isAsking;
    private long askedAt;

    /** When its lease at the store ends by our clock, if that has not been changed. Written before it is shared. */
    private long endsAt;

    TaskHold(
            TaskHolds tasks,
            StorePart part,
            ClaimRef ref,
            Session session,
            long token,
            Duration atMost,
            Duration atLeast,
            @Nullable AcquisitionObserver observer) {
        this.tasks = tasks;
        this.context = tasks.context;
        this.part = part;
        this.ref = ref;
        this.token = token;
        this.atMost = atMost;
        this.observer = observer;
        this.ending = new TaskRelease(tasks, part, ref, session, token, atMost, atLeast, observer);
    }

    /** It was granted. Called once, before anybody else has it. */
    void begin(long until, long leaseEndsAt, long steps) {
        deadline = until;
        endsAt = leaseEndsAt;
        clearedSteps = steps;
        beganAt = context.clock().now();
        askedAt = beganAt;
        tasks.add(this);
        lookLater();
    }

    /** The task begins. Called once, on the thread that runs it. */
    void started() {
        beganAt = context.clock().now();
        if (observer != null) {
            observer.granted(token);
        }
    }

    /** Nobody waits for it any more, as was found before its task began. */
    void cancelled() {
        if (observer != null) {
            observer.notGranted(WaitEnd.CANCELLED);
        }
        giveUp();
    }

    /** The task is not run. */
    void giveUp() {
        if (end()) {
            ending.release(CallerMode.ASYNC);
        }
    }

    // ---- Being good, and lost

    @Override
    public String name() {
        return ref.resource().value();
    }

    @Override
    public long fencingToken() {
        requireOpen();
        check();
        throwIfLost();
        return context.rules().shownToken(token, token);
    }

    @Override
    public String holdId() {
        return LocalHold.idOf(ref);
    }

    @Override
    public boolean isHeld() {
        check();
        return !isOver && loss == null && !inDoubt();
    }

    private boolean inDoubt() {
        return contradiction.isOpen()
                || (context.rules().stepsRaiseDoubt()
                        && clearedSteps != context.clock().steps());
    }

    /** Looks whether the deadline has passed, and tells the loss if so. */
    private void check() {
        if (loss == null && !isOver && !context.rules().isGood(context.clock().now(), deadline)) {
            lose(Loss.Cause.LEASE_ENDED);
        }
    }

    @Override
    public void ensureHeld() {
        requireOpen();
        try {
            for (long seen = context.doubts().news();
                    !isHeld();
                    seen = context.doubts().news()) {
                throwIfLost();
                requireOpen();
                poll();
                context.doubts().awaitNews(seen, remaining().toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockLostException(lossBy(Loss.Cause.EXPIRED));
        }
    }

    @Override
    public Duration remaining() {
        boolean isGone = isOver || loss != null;
        return isGone
                ? Duration.ZERO
                : Duration.ofNanos(Math.max(0, deadline - context.clock().now()));
    }

    @Override
    public Duration effectiveLease() {
        return atMost;
    }

    @Override
    public Hold onLost(Consumer<Loss> listener) {
        Loss lost = addUnlessLost(listeners, listener);
        if (lost != null) {
            tell(listener, lost);
        }
        return this;
    }

    @Override
    public void whenLost(Consumer<Loss> reaction) {
        Loss lost = addUnlessLost(reactions, reaction);
        if (lost != null) {
            reaction.accept(lost);
        }
    }

    private @Nullable Loss addUnlessLost(List<Consumer<Loss>> told, Consumer<Loss> one) {
        lock.lock();
        try {
            if (loss == null && !isOver) {
                told.add(one);
            }
            return loss;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void extend(Duration lease) {
        throw new IllegalStateException("The turn of task '" + name() + "' lasts for " + atMost + ", as it was begun");
    }

    void clientClosed() {
        lose(Loss.Cause.CLIENT_CLOSED);
    }

    /** The store has said that it was taken away. */
    void contradicted() {
        contradiction.hear();
        poll();
    }

    private void lose(Loss.Cause cause) {
        Loss lost = lossBy(cause);
        List<Consumer<Loss>> reacting;
        List<Consumer<Loss>> told;
        lock.lock();
        try {
            if (isOver || loss != null) {
                return;
            }
            // Before the listeners run: one that calls isHeld() must already see the loss.
            loss = lost;
            reacting = List.copyOf(reactions);
            told = List.copyOf(listeners);
            timer.cancel();
        } finally {
            lock.unlock();
        }
        reacting.forEach(reaction -> Failsafe.run("the reaction to a loss", () -> reaction.accept(lost)));
        context.noteLoss(lost);
        if (observer != null) {
            observer.lost(lost);
        }
        told.forEach(listener -> tell(listener, lost));
    }

    private void tell(Consumer<Loss> listener, Loss lost) {
        context.callbacks().runLossListener(() -> {
            try {
                listener.accept(lost);
            } catch (RuntimeException | Error e) {
                log.warn(
                        "resource={} token={} a listener for the loss failed",
                        ResourceName.printable(name()),
                        token,
                        e);
            }
        });
    }

    private Loss lossBy(Loss.Cause cause) {
        return new Loss(name(), context.product(), token, cause);
    }

    private void throwIfLost() {
        Loss lost = loss;
        if (lost != null) {
            throw new LockLostException(lost);
        }
    }

    private void requireOpen() {
        if (isOver) {
            throw new IllegalStateException("The hold on '" + name() + "' was closed");
        }
    }

    // ---- Asking the store

    /**
     * Looks again when the lease should have ended, and in between, for timers stand still while the machine sleeps.
     */
    private void lookLater() {
        long soon = context.options().keepAliveEvery().toNanos() / SessionKeeper.LOOKS_PER_KEEP_ALIVE;
        lock.lock();
        try {
            if (!isOver && loss == null) {
                timer = context.environment()
                        .schedule(Math.min(soon, deadline - context.clock().now()), this::look);
            }
        } finally {
            lock.unlock();
        }
    }

    private void look() {
        check();
        boolean isDue;
        lock.lock();
        try {
            isDue = context.clock().now() - askedAt
                    >= context.options().sessionTtl().toNanos();
        } finally {
            lock.unlock();
        }
        if (isDue || inDoubt()) {
            poll();
        }
        lookLater();
    }

    private void poll() {
        lock.lock();
        try {
            if (isAsking || isOver || loss != null) {
                return;
            }
            isAsking = true;
            askedAt = context.clock().now();
        } finally {
            lock.unlock();
        }
        long steps = context.clock().steps();
        long heard = contradiction.heard();
        part.wire.send(new Command.Poll(List.of(ref)), CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                Reply.ClaimReply state =
                        reply instanceof Reply.Polled polled && polled.states().size() == 1
                                ? polled.states().get(0)
                                : null;
                if (state instanceof Reply.Granted granted) {
                    confirmed(granted, sentAt, steps, heard);
                }
                answered();
                if (state instanceof Reply.Absent) {
                    check();
                    lose(Loss.Cause.REMOVED);
                }
                context.doubts().signalNews();
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                answered();
                if (inDoubt()) {
                    BACKOFF.retry(context.environment(), 0, TaskHold.this::poll);
                }
                part.troubled(failure);
            }
        });
    }

    private void confirmed(Reply.Granted granted, long sentAt, long steps, long heard) {
        contradiction.settle(heard);
        long margin = context.rules().margin(atMost.toNanos(), part.wire.p99RoundTrip());
        lock.lock();
        try {
            clearedSteps = Math.max(clearedSteps, steps);
            if (granted.remaining().isPresent()) {
                long left = granted.remaining().get().toNanos();
                long told = context.rules().deadline(sentAt, context.clock().now(), left, margin);
                if (told - deadline < 0) {
                    deadline = told;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void answered() {
        lock.lock();
        try {
            isAsking = false;
        } finally {
            lock.unlock();
        }
    }

    // ---- The end

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return toldOfEnd.of(finish(CallerMode.ASYNC), context.callbacks());
    }

    @Override
    public CompletableFuture<ReleaseOutcome> giveBack(CallerMode caller) {
        return finish(caller);
    }

    /** Here an unconfirmed end is no failure: the task has run, and the lock ends by itself. */
    @Override
    public void close() {
        ReleaseOutcome how;
        try {
            how = Uninterruptibles.uninterruptibly(
                    finish(CallerMode.BLOCKING),
                    2 * context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            how = ReleaseOutcome.UNCONFIRMED;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a turn never fails", e);
        }
        throwIfLostBy(how);
    }

    /** The task has ended: gives the hold back, or leaves it to end when its least time has passed. */
    CompletableFuture<ReleaseOutcome> finish(CallerMode caller) {
        check();
        if (end()) {
            if (loss != null) {
                ending.complete(ReleaseOutcome.LOST);
                tasks.forgetAfter(ref, Math.max(0, endsAt - context.clock().now()));
            } else {
                ending.giveBack(caller, beganAt);
            }
        }
        return ending.outcome;
    }

    /** The exception for a hold that was lost before its end. */
    void throwIfLostBy(ReleaseOutcome how) {
        if (how == ReleaseOutcome.LOST) {
            Loss lost = loss;
            throw new LockLostException(lost == null ? lossBy(Loss.Cause.REMOVED) : lost);
        }
    }

    private boolean end() {
        lock.lock();
        try {
            if (isOver) {
                return false;
            }
            isOver = true;
            timer.cancel();
        } finally {
            lock.unlock();
        }
        tasks.remove(this);
        return true;
    }

    @Override
    public String toString() {
        return "TaskHold[" + ref.resource() + ", token " + token + "]";
    }
}
