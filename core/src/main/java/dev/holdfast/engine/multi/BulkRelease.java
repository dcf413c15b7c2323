package dev.holdfast.engine.multi;

import dev.holdfast.Hold;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.spi.CallerMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases the holds of a call that could not acquire all of its parts: all at once, which is one round trip where the
 * store batches. If one release fails, the others still happen. A lost hold is not a failure here: no caller ever had
 * it.
 */
public final class BulkRelease {
    private static final Logger log = LoggerFactory.getLogger(BulkRelease.class);

    private final ClientContext context;
    private final List<Hold> holds;
    private final List<@Nullable CompletableFuture<ReleaseOutcome>> releases = new ArrayList<>();
    private final List<RuntimeException> failures = new ArrayList<>();

    private BulkRelease(ClientContext context, List<Hold> holds) {
        this.context = context;
        this.holds = holds;
        for (int i = holds.size() - 1; i >= 0; i--) {
            releases.add(0, begin(holds.get(i)));
        }
    }

    /** Releases, waits for the store as long as any release does, and returns what failed. Called by the owner. */
    static List<RuntimeException> of(ClientContext context, List<Hold> holds) {
        BulkRelease all = new BulkRelease(context, holds);
        try {
            Uninterruptibles.uninterruptibly(
                    CompletableFuture.allOf(all.begun()),
                    2 * context.options().storeTimeout().toNanos());
        } catch (ExecutionException e) {
            throw new IllegalStateException("a release must not fail", e);
        } catch (TimeoutException e) {
            log.debug("store={} releases were not confirmed", context.product(), e);
        }
        return all.failures();
    }

    /** As {@link #of}, without blocking. */
    static CompletableFuture<List<RuntimeException>> ofAsync(ClientContext context, List<Hold> holds) {
        BulkRelease all = new BulkRelease(context, holds);
        return CompletableFuture.allOf(all.begun()).thenApply(ended -> all.failures());
    }

    private @Nullable CompletableFuture<ReleaseOutcome> begin(Hold hold) {
        try {
            return HoldHandle.of(hold).giveBack(CallerMode.ASYNC);
        } catch (RuntimeException e) {
            failures.add(e);
            return null;
        }
    }

    private CompletableFuture<?>[] begun() {
        return releases.stream().filter(release -> release != null).toArray(CompletableFuture<?>[]::new);
    }

    private List<RuntimeException> failures() {
        for (int i = 0; i < holds.size(); i++) {
            CompletableFuture<ReleaseOutcome> release = releases.get(i);
            if (release != null && release.getNow(ReleaseOutcome.UNCONFIRMED) == ReleaseOutcome.UNCONFIRMED) {
                Hold hold = holds.get(i);
                failures.add(context.failures().notGivenBack(hold.name(), hold.effectiveLease()));
            }
        }
        return failures;
    }
}
