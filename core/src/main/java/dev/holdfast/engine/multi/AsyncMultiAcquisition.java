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
 * One call that acquires all parts for a hold that owns itself, or none. As {@link MultiAcquisition} without a thread:
 * such a call holds nothing before, so the order of the parts alone prevents deadlocks.
 *
 * <p>Its steps run one after the other, each on the thread that completes the step before. Only the result may be
 * completed by any thread at any time.
 */
final class AsyncMultiAcquisition {

    private final ClientContext context;
    private final List<MultiLockMember> parts;
    private final AcquireOptions options;
    private final TotalWait wait;
    private final CompletableFuture<MultiHold> result = new CompletableFuture<>();

    /** What this attempt has acquired, in order. */
    private final List<Hold> holds = new ArrayList<>();

    /** The request for the next part. */
    private volatile @Nullable CompletableFuture<Hold> request;

    AsyncMultiAcquisition(ClientContext context, List<MultiLockMember> parts, AcquireOptions options, TotalWait wait) {
        this.context = context;
        this.parts = parts;
        this.options = options;
        this.wait = wait;
    }

    CompletableFuture<MultiHold> begin() {
        var unused = result.whenComplete((hold, failure) -> {
            CompletableFuture<Hold> present = request;
            if (present != null) {
                // Has an effect only if the caller completed the result: otherwise the request has ended before.
                present.cancel(false);
            }
        });
        requestNext();
        return result;
    }

    private void requestNext() {
        if (holds.size() == parts.size()) {
            settleLeases();
            return;
        }
        MultiLockMember part = parts.get(holds.size());
        CompletableFuture<Hold> next = part.acquireForEngine(wait.within(options));
        request = next;
        if (result.isDone()) {
            // The caller may have completed it before it could see this request.
            next.cancel(false);
        }
        // The trampoline keeps many grants that come at once from nesting on the stack.
        var unused = next.whenComplete((hold, failure) -> Trampoline.react(() -> {
            if (failure != null) {
                giveUp(part, failure);
            } else {
                holds.add(hold);
                requestNext();
            }
        }));
    }

    /**
     * A part could not be acquired. A time-out names the maximum wait of the whole call, not what was left of it for
     * this part, and the part's holder, which is looked up after the other parts are released.
     */
    private void giveUp(MultiLockMember part, Throwable failure) {
        if (!(failure instanceof LockWaitTimeoutException) || wait.most().isEmpty()) {
            giveUp(failure);
            return;
        }
        var unused = BulkRelease.ofAsync(context, List.copyOf(holds)).thenAccept(failures -> {
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

    /** Extends fixed leases, so that those of all parts run from now. */
    private void settleLeases() {
        CompletableFuture<?>[] extensions = new CompletableFuture<?>[0];
        if (AcquireTerms.of(options).isExtendable()) {
            extensions = holds.subList(0, holds.size() - 1).stream()
                    .map(hold -> extend((LocalHold) hold))
                    .toArray(CompletableFuture<?>[]::new);
        }
        var unused = CompletableFuture.allOf(extensions).whenComplete((done, failure) -> {
            Throwable cause = failure == null ? null : Stages.causeOf(failure);
            if (cause == null ? isOneLost() : cause instanceof LockLostException) {
                restart(cause);
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

    /** Whether a part was lost while others were waited for. One in doubt is not lost. */
    private boolean isOneLost() {
        for (Hold hold : holds) {
            try {
                var unused = hold.fencingToken();
            } catch (LockLostException e) {
                return true;
            }
        }
        return false;
    }

    private void restart(@Nullable Throwable lost) {
        if (wait.isOver()) {
            RuntimeException timeout = context.failures()
                    .timedOut(parts.get(0).resource().value(), wait.most().orElseThrow());
            if (lost != null) {
                timeout.addSuppressed(lost);
            }
            giveUp(timeout);
            return;
        }
        var unused = BulkRelease.ofAsync(context, List.copyOf(holds)).thenAccept(failures -> {
            holds.clear();
            if (failures.isEmpty()) {
                requestNext();
            } else {
                fail(failures.get(0), failures.subList(1, failures.size()));
            }
        });
    }

    private void giveUp(Throwable cause) {
        var unused = BulkRelease.ofAsync(context, List.copyOf(holds)).thenAccept(failures -> fail(cause, failures));
    }

    private void fail(Throwable cause, List<RuntimeException> suppressed) {
        suppressed.forEach(cause::addSuppressed);
        context.callbacks().run(() -> result.completeExceptionally(cause));
    }

    private void finish() {
        EngineMultiHold all = new EngineMultiHold(context, null, List.copyOf(holds));
        context.callbacks().run(() -> {
            if (!result.complete(all)) {
                var unused = all.releaseAsync();
            }
        });
    }
}
