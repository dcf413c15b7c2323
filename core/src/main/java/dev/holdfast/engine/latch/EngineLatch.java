package dev.holdfast.engine.latch;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/*
 * The number of a generation has two halves. The upper one counts generations. The lower one is a random mark of the
 * call that sets the count. Of two calls that set the latch at the same time the store accepts one, and the mark in the
 * reply shows each whether it was that one, however often its command had to be sent.
 */

/** The latch of one name. Thread-safe; keeps nothing but a cached generation. */
public final class EngineLatch implements DistributedCountDownLatch {

    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
    private static final int MARK_BITS = 32;

    /** The id of a count-down that only reads. */
    private static final String QUESTION = "?";

    private final LocalResources resources;
    private final ClientContext context;
    private final ResourceName name;
    private final Acquirer acquirer;

    /** The newest generation that was reported here. Spares a command if it is still current. */
    private volatile long lastKnown;

    public EngineLatch(LocalResources resources, ResourceName name) {
        this.resources = resources;
        this.context = resources.context;
        this.name = name;
        this.acquirer = new Acquirer(resources, name, Mode.unowned(LATCH, 0));
    }

    @Override
    public String name() {
        return name.value();
    }

    // ---- Setting

    @Override
    public boolean trySetCount(long count) {
        return result(set(count, CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<Boolean> trySetCountAsync(long count) {
        return userStage(set(count, CallerMode.ASYNC));
    }

    private CompletableFuture<Boolean> set(long count, CallerMode caller) {
        if (count < 1) {
            throw new IllegalArgumentException("The count of latch '" + name + "' must be positive, but was " + count);
        }
        context.requireOpen();
        return ask(caller).thenCompose(present -> setAfter(present, count));
    }

    private CompletableFuture<Boolean> setAfter(LatchCall.Answer present, long count) {
        if (present.remaining() > 0) {
            return CompletableFuture.completedFuture(false);
        }
        long fresh = generationAfter(present.generation());
        return LatchCall.setCount(resources.partition(name), name, fresh, count, CallerMode.ASYNC)
                .thenCompose(after -> {
                    note(after);
                    boolean isSet = after.generation() == fresh;
                    boolean isBeaten = round(after.generation()) <= round(fresh) || after.sending() == Sending.FIRST;
                    if (isSet || (isBeaten && after.remaining() > 0)) {
                        return CompletableFuture.completedFuture(isSet);
                    }
                    if (isBeaten) {
                        // Another call set the count first, and that generation has ended already.
                        return setAfter(after, count);
                    }
                    // The store is past the generation that this call would have begun. Whether this or another call
                    // had begun it is unknown.
                    return CompletableFuture.failedFuture(context.failures().unknownCount(name.value()));
                });
    }

    private long generationAfter(long present) {
        long mark = resources.partition(name).uniqueLong() >>> (Long.SIZE - MARK_BITS);
        long next = Math.max(round(present), round(lastKnown)) + 1;
        if (next > Long.MAX_VALUE >>> MARK_BITS) {
            throw new IllegalStateException("Latch '" + name + "' has no more generations after " + present);
        }
        return next << MARK_BITS | mark;
    }

    private static long round(long generation) {
        return generation >>> MARK_BITS;
    }

    // ---- Counting

    @Override
    public long countDown() {
        String id = "h" + Long.toHexString(resources.partition(name).uniqueLong()) + "-"
                + Long.toHexString(resources.partition(name).uniqueLong());
        return result(count(id, CallerMode.BLOCKING));
    }

    @Override
    public long countDown(String id) {
        return result(count(id, CallerMode.BLOCKING));
    }

    @Override
    public CompletionStage<Long> countDownAsync(String id) {
        return userStage(count(id, CallerMode.ASYNC));
    }

    @Override
    public boolean countDown(String id, long generation) {
        if (generation < 1) {
            throw new IllegalArgumentException("A generation must be at least 1, not " + generation);
        }
        context.requireOpen();
        return result(LatchCall.countDown(resources.partition(name), name, generation, id, CallerMode.BLOCKING))
                        .generation()
                == generation;
    }

    private CompletableFuture<Long> count(String id, CallerMode caller) {
        context.requireOpen();
        long expected = lastKnown;
        return LatchCall.countDown(resources.partition(name), name, expected, id, caller)
                .thenCompose(after -> {
                    note(after);
                    if (after.generation() == expected || after.remaining() == 0) {
                        return CompletableFuture.completedFuture(after);
                    }
                    if (expected != 0 && after.sending() == Sending.REPEAT) {
                        // An unanswered command may have counted in the expected generation, or that had ended
                        // before. A caller that repeats the call means the current generation.
                        return CompletableFuture.failedFuture(context.failures().uncounted(name.value(), id));
                    }
                    // The expected generation has ended: the count-down belongs to the current one.
                    return LatchCall.countDown(
                                    resources.partition(name), name, after.generation(), id, CallerMode.ASYNC)
                            .thenApply(this::note);
                })
                .thenApply(LatchCall.Answer::remaining);
    }

    private CompletableFuture<LatchCall.Answer> ask(CallerMode caller) {
        return LatchCall.countDown(resources.partition(name), name, 0, QUESTION, caller)
                .thenApply(this::note);
    }

    private LatchCall.Answer note(LatchCall.Answer answer) {
        lastKnown = answer.generation();
        return answer;
    }

    @Override
    public long count() {
        return state().remaining();
    }

    @Override
    public CompletionStage<Long> countAsync() {
        context.requireOpen();
        return userStage(ask(CallerMode.ASYNC).thenApply(LatchCall.Answer::remaining));
    }

    @Override
    public long generation() {
        return state().generation();
    }

    private LatchCall.Answer state() {
        context.requireOpen();
        return result(ask(CallerMode.BLOCKING));
    }

    // ---- Waiting

    @Override
    public void await() throws InterruptedException {
        if (!pass(TotalWait.FOREVER)) {
            throw new AssertionError("146 years have passed");
        }
    }

    @Override
    public boolean await(Duration maxWait) throws InterruptedException {
        return pass(TotalWait.nanos(maxWait));
    }

    private boolean pass(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before waiting for latch '" + name + "'");
        }
        LocalHold passed = acquirer.await(this, AcquireTerms.within(waitNanos));
        if (passed == null) {
            return false;
        }
        release(passed);
        return true;
    }

    /** Does not wait for the release: a pass claim keeps no one else waiting. */
    private static void release(Hold passed) {
        var unused = HoldHandle.of(passed).giveBack(CallerMode.ASYNC);
    }

    @Override
    public CompletionStage<Void> awaitAsync() {
        CompletableFuture<Hold> passing = acquirer.enter(AcquireTerms.FOREVER).toCompletableFuture();
        CompletableFuture<Void> result = new CompletableFuture<>();
        var unusedPassing = passing.whenComplete((hold, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                release(hold);
                result.complete(null);
            }
        });
        var unusedWait = result.whenComplete((nothing, failure) -> passing.cancel(false));
        return result;
    }

    // ---- Results

    private <T> T result(CompletableFuture<T> answer) {
        try {
            return Uninterruptibles.uninterruptibly(answer);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
    }

    /** The same result, completed on the callback executor. */
    private <T> CompletableFuture<T> userStage(CompletableFuture<T> answer) {
        return context.callbacks().relay(answer);
    }

    @Override
    public String toString() {
        return "DistributedCountDownLatch[" + name + ", " + context.product() + "]";
    }
}
