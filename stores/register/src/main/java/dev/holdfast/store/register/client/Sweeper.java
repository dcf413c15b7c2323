package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A sweeper of the records of names that nobody uses. It looks through all of them now and then, and removes those that
 * it has found idle and unchanged the last time too. So it needs no clock of the server's, and no record is removed
 * that was used since then. Thread-safe.
 */
final class Sweeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

    private static final int PAGE = 100;

    /** More idle names than this are swept the next time. */
    private static final int MOST_REMEMBERED = 100_000;

    private final Context context;
    private final long intervalNanos;

    @GuardedBy("this")
    private boolean isStarted;

    @GuardedBy("this")
    private boolean isClosed;

    @GuardedBy("this")
    private Environment.@Nullable Timer timer;

    /** The idle records of the last time. */
    @GuardedBy("this")
    private Map<ResourceName, RecordVersion> idle = Map.of();

    /** @param intervalNanos how long a record is kept at least that nobody uses */
    Sweeper(Context context, long intervalNanos) {
        this.context = context;
        this.intervalNanos = intervalNanos;
    }

    /** Begins; a client that has opened no session sweeps nothing. Idempotent. */
    synchronized void start() {
        if (!isStarted) {
            isStarted = true;
            schedule();
        }
    }

    @GuardedBy("this")
    private void schedule() {
        if (!isClosed) {
            // Clients that were started together don't sweep together.
            long delay = intervalNanos + context.upTo(intervalNanos);
            timer = context.environment().schedule(delay, () -> {
                var unused = sweep().whenComplete((done, failure) -> again(failure));
            });
        }
    }

    private synchronized void again(@Nullable Throwable failure) {
        if (failure != null) {
            LOG.debug("idle records were not swept, which is tried again later", failure);
        }
        schedule();
    }

    /** Removes the records that were idle the last time and are unchanged, and notes those that are idle now. */
    CompletionStage<Void> sweep() {
        Map<ResourceName, RecordVersion> before;
        synchronized (this) {
            before = idle;
        }
        Map<ResourceName, RecordVersion> now = new HashMap<>();
        return sweep(Optional.empty(), before, now).thenRun(() -> {
            synchronized (this) {
                idle = now;
            }
        });
    }

    private CompletionStage<Void> sweep(
            Optional<String> cursor, Map<ResourceName, RecordVersion> before, Map<ResourceName, RecordVersion> now) {
        return context.adapter().list("", cursor, PAGE).thenCompose(page -> {
            Facts facts = new Facts(context.sessions());
            facts.time(context.adapter().unixMicros());
            CompletionStage<Void> swept = CompletableFuture.completedFuture(null);
            for (RegisterPage.Entry entry : page.entries()) {
                Step step = new Step(
                        entry.resource(),
                        entry.record(),
                        facts,
                        context.adapter().traits());
                if (!step.isIdle()) {
                    continue;
                }
                if (entry.record().version().equals(before.get(entry.resource()))) {
                    // One after another: nobody waits for this.
                    swept = swept.thenCompose(previous -> context.adapter().write(step.removal()))
                            .thenApply(result -> null);
                } else if (now.size() < MOST_REMEMBERED) {
                    now.put(entry.resource(), entry.record().version());
                }
            }
            return page.cursor().isPresent() ? swept.thenCompose(all -> sweep(page.cursor(), before, now)) : swept;
        });
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
