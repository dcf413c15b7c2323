package dev.holdfast.engine.multi;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.MultiHold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.LeaseExtension;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.support.Stages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One call that acquires all parts for the hold itself, or none. As {@link MultiAcquisition} without a thread: nothing
 * is held before, so the order alone keeps it out of circles.
 *
 * <p>Its steps follow one another, each on whatever thread ends the one before; only the result may be ended by anybody
 * at any time.
 */
final class AsyncMultiAcquisition {

    private final ClientContext context;
    private final List<MultiLockMember> parts;
    private final AcquireOptions options;
    private final TotalWait wait;
    private final CompletableFuture<MultiHold> result = new CompletableFuture<>();

    /** What this attempt has acquired, in order. */
    private final List<Hold> held = new ArrayList<>();

    /** The part that is waited for. */
    private volatile @Nullable CompletableFuture<Hold> asked;

    AsyncMultiAcquisition(ClientContext context, List<MultiLockMember> parts, AcquireOptions options, TotalWait wait) {
        this.context = context;
        this.parts = parts;
        this.options = options;
        this.wait = wait;
    }

    CompletableFuture<MultiHold> begin() {
        var unused = result.whenComplete((hold, failure) -> {
            CompletableFuture<Hold> present = asked;
            if (present != null) {
                // Ended by whoever has it in hand; if it ended by itself nothing is waited for any more.
                present.cancel(false);
            }
        });
        askForNext();
        return result;
    }

    private void askForNext() {
        if (held.size() == parts.size()) {
            settleLeases();
            return;
        }
        MultiLockMember part = parts.get(held.size());
        CompletableFuture<Hold> next = part.acquireForEngine(wait.within(options));
        asked = next;
        if (result.isDone()) {
            // It may have ended before it could see what is asked for now.
            next.cancel(false);
        }
        // However many are granted at once, each asks for the next when the one before has returned.
        var unused = next.whenComplete((hold, failure) -> Trampoline.react(() -> {
            if (failure != null) {
                giveUp(part, failure);
            } else {
                held.add(hold);
                askForNext();
            }
        }));
    }

    /**
     * A part could not be had. A maximum wait is told as it was given, not as what was left of it for this part, and
     * with who is in the way, which is asked when the others are given back.
     */
    private void giveUp(MultiLockMember part, Throwable failure) {
        if (!(failure instanceof LockWaitTimeoutException) || wait.most().isEmpty()) {
            giveUp(failure);
            return;
        }
        var unused = BulkRelease.ofAsync(context, List.copyOf(held)).thenAccept(failures -> {
            var unusedEnd = part.resources()
                    .lookup
                    .timedOutAsync(
                            part.resources().partition(part.resource()),
                            part.resource(),
                            wait.most().get(),
                            wait.leftForAnswers(Long.MAX_VALUE))
                    .thenAccept(timeout -> fail(timeout, failures));
        });
    }

    /** A fixed lease runs from here for all parts. */
    private void settleLeases() {
        CompletableFuture<?>[] extensions = new CompletableFuture<?>[0];
        if (AcquireTerms.of(options).isExtendable()) {
            extensions = held.subList(0, held.size() - 1).stream()
                    .map(hold -> extend((LocalHold) hold))
                    .toArray(CompletableFuture<?>[]::new);
        }
        var unused = CompletableFuture.allOf(extensions).whenComplete((done, failure) -> {
            Throwable cause = failure == null ? null : Stages.causeOf(failure);
            if (cause == null ? isOneLost() : cause instanceof LockLostException) {
                beginAnew(cause);
            } else if (cause != null) {
                giveUp(cause);
            } else {
                finish();
            }
        });
    }

    private CompletableFuture<Void> extend(LocalHold hold) {
        try {
            return LeaseExtension.extendAsync(
                            hold, AcquireTerms.of(options).lease().length())
                    .toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Whether one was lost while others were waited for; a doubt is no loss. */
    private boolean isOneLost() {
        for (Hold hold : held) {
            try {
                var unused = hold.fencingToken();
            } catch (LockLostException e) {
                return true;
            }
        }
        return false;
    }

    private void beginAnew(@Nullable Throwable lost) {
        if (wait.isOver()) {
            RuntimeException timeout = context.failures()
                    .timedOut(parts.get(0).resource().value(), wait.most().orElseThrow());
            if (lost != null) {
                timeout.addSuppressed(lost);
            }
            giveUp(timeout);
            return;
        }
        var unused = BulkRelease.ofAsync(context, List.copyOf(held)).thenAccept(failures -> {
            held.clear();
            if (failures.isEmpty()) {
                askForNext();
            } else {
                fail(failures.get(0), failures.subList(1, failures.size()));
            }
        });
    }

    private void giveUp(Throwable cause) {
        var unused = BulkRelease.ofAsync(context, List.copyOf(held)).thenAccept(failures -> fail(cause, failures));
    }

    private void fail(Throwable cause, List<RuntimeException> suppressed) {
        suppressed.forEach(cause::addSuppressed);
        context.callbacks().run(() -> result.completeExceptionally(cause));
    }

    private void finish() {
        EngineMultiHold all = new EngineMultiHold(context, null, List.copyOf(held));
        context.callbacks().run(() -> {
            if (!result.complete(all)) {
                var unused = all.releaseAsync();
            }
        });
    }
}
