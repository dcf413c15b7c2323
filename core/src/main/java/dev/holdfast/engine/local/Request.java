package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.engine.observe.AcquisitionObserver;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One local wish for a hold, by a thread that parks or by a stage. It ends once: granted, taken or failed. The result
 * is written under the lock of the resource, before {@link #isDone} turns true.
 */
public final class Request {

    public final ResourceName name;

    /** The thread that will own the hold; null for a hold that owns itself. */
    final @Nullable Thread owner;

    /** The thread that parks for it; null for a stage. */
    final @Nullable Thread waiter;

    /** The stage to complete; null for a thread. */
    final @Nullable CompletableFuture<Hold> future;

    /** What it asks for. */
    final Mode mode;

    final AcquireTerms terms;

    /** Makes a single attempt, and never queues at the store. */
    final boolean isTry;

    /** Asked for by the engine itself: what follows runs on the thread that ends it, and waits for no code of users. */
    final boolean isOfEngine;

    private volatile boolean isDone;
    private @Nullable LocalHold hold;
    private @Nullable Supplier<RuntimeException> failure;

    // The local queue, guarded by the lock of the resource.
    @Nullable
    Request previous;

    @Nullable
    Request next;

    boolean isQueued;

    /** The claims that go past the one that waits, if one of them is for this request. */
    @Nullable
    BargingClaims barging;

    /**
     * At the head of the queue while another has its turn: it looks for itself at short intervals. Written under the
     * lock of the resource.
     */
    volatile boolean isWatching;

    /**
     * At the head of the queue while the store has yet to say anything: what comes next comes soon. Written under the
     * lock of the resource.
     */
    volatile boolean isAskedFor;

    /**
     * How often the store had answered the resource when this request was queued, or -1 if its answer then was that
     * others hold the lock. Guarded by the lock of the resource.
     */
    long answersBefore;

    /**
     * The wait that is over while the store has yet to answer: the request ends with that answer. Null until then;
     * written under the lock of the resource, and read there or after {@link #isDone}.
     */
    @Nullable
    Duration overdueAfter;

    /**
     * How often the client had asked for a session when this request was queued. Guarded by the lock of the resource.
     */
    long sessionsAskedFor;

    /** Its place among all that were queued here, from 1; above all while it is not queued yet. */
    long number = Long.MAX_VALUE;

    /** Is told what becomes of it and of its hold; null if nobody looks on. */
    final @Nullable AcquisitionObserver observer;

    Request(
            Mode mode,
            ResourceName name,
            @Nullable Thread waiter,
            @Nullable CompletableFuture<Hold> future,
            AcquireTerms terms,
            boolean isOfEngine,
            @Nullable AcquisitionObserver observer) {
        this.name = name;
        this.owner = mode.isOwned() ? waiter : null;
        this.waiter = waiter;
        this.mode = mode;
        this.future = future;
        this.terms = terms;
        this.isTry = terms.isTry();
        this.isOfEngine = isOfEngine;
        this.observer = observer;
    }

    /** How much of the capacity it needs. */
    public int weight() {
        return mode.weight();
    }

    boolean hasOwnLease() {
        return terms.hasOwnLease();
    }

    /** Whether it asks for a hold beside others. */
    boolean isShare() {
        return mode.isShare();
    }

    boolean isDone() {
        return isDone;
    }

    /** The hold, if it was granted. Read after {@link #isDone}. */
    @Nullable
    LocalHold hold() {
        return hold;
    }

    /** Why it failed; null if it was granted, or taken by another. Read after {@link #isDone}. */
    @Nullable
    Supplier<RuntimeException> failure() {
        return failure;
    }

    /** Who has the resource, if the store or this process said so when it was refused. Read after {@link #isDone}. */
    @Nullable
    String refusal;

    /** Ends the request. Called under the lock of the resource; the wake-up follows when it is free. */
    void end(@Nullable LocalHold granted, @Nullable Supplier<RuntimeException> why) {
        hold = granted;
        failure = why;
        isDone = true;
    }

    void wake() {
        if (waiter != null) {
            LockSupport.unpark(waiter);
        }
    }
}
