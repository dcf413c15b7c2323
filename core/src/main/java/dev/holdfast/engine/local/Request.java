package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition, by a thread or a stage, and its result. It ends once: granted, refused, failed or abandoned, under
 * the lock of the resource; the thread wakes and the stage completes when the lock is free. After {@link #isDone} the
 * result is read without the lock.
 */
public final class Request {
    private final ClientContext context;
    final ResourceName name;
    final Mode mode;
    final AcquireTerms terms;

    /**
     * The id of the thread that requested it, of which the low half is unique enough; 0 if the engine did. Not the
     * thread: a hold that owns itself may outlive it.
     */
    final int requester;

    /** The thread that parks for it; null if none does. */
    final @Nullable Thread waiter;

    /** The stage to complete; null for a thread. */
    private final @Nullable CompletableFuture<Hold> stage;

    /** Who depends on the stage: the engine's dependents never wait for users' code. */
    private final Audience audience;

    /** Observes the request and its hold; null if there is no observer. */
    final @Nullable AcquisitionObserver observer;

    // ---- The result; written under the lock of the resource, before isDone

    private volatile boolean isDone;
    private @Nullable LocalHold hold;
    private @Nullable Supplier<RuntimeException> failure;

    /** Who has the resource, if the store or this process said so when it was refused. */
    private @Nullable String whoHasIt;

    /** How long it had waited when its time was up and the store had not answered yet; null if that did not happen. */
    private @Nullable Duration overdueAfter;

    // ---- Its wait; guarded by the lock of the resource, except for what is volatile

    /** Its place in the queue; null while it is not queued. */
    private RequestQueue.@Nullable Place place;

    /** The number among all requests that were queued here, from 1; above all numbers until it is queued. */
    private long number = Long.MAX_VALUE;

    /** The barging claim that was made for it; null if there is none. */
    private @Nullable Claim bargingClaim;

    /** At the head of the queue during another's slice: its thread polls. */
    private volatile boolean isWatching;

    /** At the head of the queue before the store's first answer: the answer comes soon. */
    private volatile boolean isAskedFor;

    /** The store's answers to this resource when it was queued; -1 if the newest was that others hold the lock. */
    private long answersBefore;

    /** How often the client had tried to open a session when it was queued. */
    private long sessionAttemptsBefore;

    Request(
            ClientContext context,
            Mode mode,
            ResourceName name,
            @Nullable Thread waiter,
            @Nullable CompletableFuture<Hold> stage,
            AcquireTerms terms,
            Audience audience,
            @Nullable AcquisitionObserver observer) {
        this.context = context;
        this.name = name;
        this.requester = audience == Audience.USER ? idOf(Thread.currentThread()) : 0;
        this.waiter = waiter;
        this.mode = mode;
        this.stage = stage;
        this.terms = terms;
        this.audience = audience;
        this.observer = observer;
    }

    static int idOf(Thread thread) {
        return (int) thread.getId();
    }

    // ---- What it asks for

    /** The thread that will own the hold; null for a hold that owns itself. */
    @Nullable
    Thread owner() {
        return mode.isOwned() ? waiter : null;
    }

    /** How much of the capacity it needs. */
    public int weight() {
        return mode.weight();
    }

    /** Whether it makes a single attempt, and never queues at the store. */
    boolean isTry() {
        return terms.isTry();
    }

    boolean hasOwnLease() {
        return terms.hasOwnLease();
    }

    /** Whether it asks for a hold beside others. */
    boolean isShare() {
        return mode.sharing() == Sharing.SHARED;
    }

    boolean isOfEngine() {
        return audience == Audience.ENGINE;
    }

    /** Whether the calling thread waits for it, and may carry its command to the store. */
    CallerMode callerMode() {
        return waiter == Thread.currentThread() ? CallerMode.BLOCKING : CallerMode.ASYNC;
    }

    /** How long it may take: a try does not wait for others, but for the store. */
    long limitNanos() {
        return isTry() ? context.options().storeTimeout().toNanos() : terms.waitNanos();
    }

    /**
     * How much longer than its wait it lasts for an answer in flight: the wait bounds how long others may keep the
     * resource, and the store has its own time-out.
     */
    long overtimeNanos() {
        return Math.max(
                TotalWait.OVERTIME_NANOS, context.options().storeTimeout().toNanos() - terms.waitNanos());
    }

    // ---- In the queue

    boolean isQueued() {
        return place != null;
    }

    RequestQueue.@Nullable Place place() {
        return place;
    }

    /** It is queued for the first time. */
    void enqueued(RequestQueue.Place newPlace, long newNumber) {
        place = newPlace;
        number = newNumber;
    }

    void dequeued() {
        place = null;
    }

    long number() {
        return number;
    }

    /** Notes what its resource knew of the store when it was queued. */
    void noteQueuedAt(long answers, long sessionAttempts) {
        answersBefore = answers;
        sessionAttemptsBefore = sessionAttempts;
    }

    long answersBefore() {
        return answersBefore;
    }

    long sessionAttemptsBefore() {
        return sessionAttemptsBefore;
    }

    @Nullable
    Claim bargingClaim() {
        return bargingClaim;
    }

    /** Sets the claim that passes the waiting one for this request; null when it has ended. */
    void setBargingClaim(@Nullable Claim claim) {
        bargingClaim = claim;
    }

    boolean isWatching() {
        return isWatching;
    }

    void setWatching(boolean watches) {
        isWatching = watches;
    }

    boolean isAskedFor() {
        return isAskedFor;
    }

    void setAskedFor(boolean isAsked) {
        isAskedFor = isAsked;
    }

    /** Its time is up, and it ends with the next answer of the store. */
    void noteOverdue(Duration waited) {
        overdueAfter = waited;
    }

    /** Whether its time was up before the store's answer. Read after {@link #isDone}. */
    boolean wasOverdue() {
        return overdueAfter != null;
    }

    // ---- Its end, under the lock of the resource

    /** It gets a hold. */
    void grant(LocalHold granted, DeferredActions deferred) {
        hold = granted;
        end(deferred);
    }

    void fail(Supplier<RuntimeException> why, DeferredActions deferred) {
        failure = why;
        end(deferred);
    }

    /**
     * Others have or want the resource.
     *
     * @param holder who has or wants it, if that is known
     */
    void refuse(@Nullable String holder, DeferredActions deferred) {
        whoHasIt = holder;
        end(deferred);
    }

    /** Its caller gives it up, and knows that. */
    void abandon() {
        isDone = true;
    }

    private void end(DeferredActions deferred) {
        isDone = true;
        if (stage != null) {
            deferred.add(() -> complete(stage));
        } else if (waiter != Thread.currentThread()) {
            deferred.add(this::wake);
        }
    }

    void wake() {
        if (waiter != null) {
            LockSupport.unpark(waiter);
        }
    }

    private void complete(CompletableFuture<Hold> toComplete) {
        LocalHold granted = hold;
        Supplier<RuntimeException> why = failure;
        runForStage(() -> {
            if (granted != null) {
                if (!toComplete.complete(granted)) {
                    var unused = granted.giveBack(CallerMode.ASYNC);
                }
            } else {
                toComplete.completeExceptionally(why == null ? takenOrTimedOut() : why.get());
            }
        });
    }

    /** Runs what ends the stage: on the callback executor, unless only the engine depends on it. */
    void runForStage(Runnable end) {
        if (isOfEngine()) {
            Trampoline.react(end);
        } else {
            context.callbacks().run(end);
        }
    }

    // ---- The result

    boolean isDone() {
        return isDone;
    }

    /** The hold; null if it was not granted. Read after {@link #isDone}. */
    @Nullable
    LocalHold hold() {
        return hold;
    }

    /** Why it failed; null if it was granted, refused or abandoned. Read after {@link #isDone}. */
    @Nullable
    Supplier<RuntimeException> failure() {
        return failure;
    }

    /** The exception for a try that found the resource taken, or a wait that ended with a late answer of the store. */
    RuntimeException takenOrTimedOut() {
        Duration waited = overdueAfter;
        return waited == null
                ? context.failures().taken(name.value(), whoHasIt)
                : context.failures().timedOut(name.value(), waited);
    }

    /**
     * The exception for a request that the store did not answer within the caller's wait or the store time-out.
     *
     * @param why the newest failure of the store; null if it failed silently
     */
    RuntimeException unanswered(@Nullable StoreException why) {
        return isTry() || overtimeNanos() > TotalWait.OVERTIME_NANOS
                ? context.failures().unanswered(name.value(), context.options().storeTimeout(), why)
                : context.failures()
                        .unansweredInWait(
                                name.value(),
                                Duration.ofNanos(terms.waitNanos()),
                                Duration.ofNanos(TotalWait.OVERTIME_NANOS),
                                why);
    }
}
