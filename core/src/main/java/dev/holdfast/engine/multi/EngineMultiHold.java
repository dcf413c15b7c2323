package dev.holdfast.engine.multi;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.Failures;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.spi.CallerMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The holds of all parts as one. Thread-safe. */
final class EngineMultiHold implements MultiHold {
    private static final Logger log = LoggerFactory.getLogger(EngineMultiHold.class);

    private final ClientContext context;
    private final @Nullable Thread owner;

    /** In the order of the parts; never empty. */
    private final List<Hold> parts;

    /** The tokens as granted, for messages about a loss. */
    private final long[] tokens;

    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final CompletableFuture<Map<String, ReleaseOutcome>> released = new CompletableFuture<>();
    private final UserStage<Map<String, ReleaseOutcome>> userStage = new UserStage<>();

    /** The outcomes of the releases that have ended, by name. */
    private final Map<String, ReleaseOutcome> ended = new ConcurrentHashMap<>();

    /** Losses before the release, by name. Written before the release begins. */
    private final Map<String, LockLostException> lostBefore = new LinkedHashMap<>();

    EngineMultiHold(ClientContext context, @Nullable Thread owner, List<Hold> parts) {
        this.context = context;
        this.owner = owner;
        this.parts = parts;
        this.tokens = new long[parts.size()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = tokenOrZero(parts.get(i));
        }
    }

    @Override
    public List<String> names() {
        return parts.stream().map(Hold::name).toList();
    }

    @Override
    public long fencingToken(String name) {
        requireOpen();
        return part(name).fencingToken();
    }

    @Override
    public String holdId(String name) {
        return part(name).holdId();
    }

    private Hold part(String name) {
        for (Hold part : parts) {
            if (part.name().equals(name)) {
                return part;
            }
        }
        throw new IllegalArgumentException("'" + name + "' is not part of this hold, whose parts are " + names());
    }

    @Override
    public boolean isHeld() {
        for (Hold part : parts) {
            if (!part.isHeld()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void ensureHeld() {
        requireOpen();
        parts.forEach(Hold::ensureHeld);
    }

    @Override
    public Duration remaining() {
        return shortest(Hold::remaining);
    }

    @Override
    public Duration effectiveLease() {
        return shortest(Hold::effectiveLease);
    }

    private Duration shortest(Function<Hold, Duration> duration) {
        return parts.stream().map(duration).min(Comparator.naturalOrder()).orElseThrow();
    }

    @Override
    public MultiHold onLost(Consumer<Loss> listener) {
        AtomicBoolean isNotified = new AtomicBoolean();
        for (Hold part : parts) {
            part.onLost(loss -> {
                if (isNotified.compareAndSet(false, true)) {
                    listener.accept(loss);
                }
            });
        }
        return this;
    }

    @Override
    public void extend(Duration lease) {
        requireOpen();
        List<RuntimeException> failures = new ArrayList<>();
        for (Hold part : parts) {
            try {
                part.extend(lease);
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        throwFirst(failures);
    }

    @Override
    public CompletionStage<Map<String, ReleaseOutcome>> releaseAsync() {
        return userStage.of(beginRelease(), context.callbacks());
    }

    /** As {@link #releaseAsync}, but completed on the thread that ends the last release. */
    private CompletableFuture<Map<String, ReleaseOutcome>> beginRelease() {
        if (owner != null && owner != Thread.currentThread()) {
            throw new NotOwnerException(
                    parts.get(0).name(),
                    "The hold on " + names() + " belongs to the thread '" + owner.getName()
                            + "' and can't be released by '"
                            + Thread.currentThread().getName()
                            + "'. Use acquireAsync for holds that move between threads.");
        }
        if (isClosed.compareAndSet(false, true)) {
            release();
        }
        return released;
    }

    private void release() {
        List<CompletableFuture<ReleaseOutcome>> endings = new ArrayList<>();
        List<RuntimeException> failures = new ArrayList<>();
        for (int i = parts.size() - 1; i >= 0; i--) {
            Hold part = parts.get(i);
            noteLoss(part);
            try {
                endings.add(0, HoldHandle.of(part).giveBack(CallerMode.ASYNC).thenApply(outcome -> {
                    ended.put(part.name(), outcome);
                    return outcome;
                }));
            } catch (RuntimeException e) {
                // unlock() has released this part before. The others are still released.
                failures.add(e);
            }
        }
        var unused = CompletableFuture.allOf(endings.toArray(CompletableFuture<?>[]::new))
                .thenRun(() -> {
                    if (!failures.isEmpty()) {
                        released.completeExceptionally(Failures.joined(failures));
                        return;
                    }
                    Map<String, ReleaseOutcome> outcomes = new LinkedHashMap<>();
                    for (int i = 0; i < parts.size(); i++) {
                        outcomes.put(parts.get(i).name(), endings.get(i).join());
                    }
                    released.complete(Collections.unmodifiableMap(outcomes));
                });
    }

    private void noteLoss(Hold part) {
        try {
            var unused = part.fencingToken();
        } catch (LockLostException e) {
            lostBefore.put(part.name(), e);
        } catch (IllegalStateException e) {
            log.debug("resource={} was released before the multi-lock hold that contains it", part.name(), e);
        }
    }

    @Override
    public void close() {
        if (isClosed.get()) {
            return;
        }
        CompletableFuture<Map<String, ReleaseOutcome>> ending = beginRelease();
        Map<String, ReleaseOutcome> outcomes;
        try {
            outcomes = Uninterruptibles.uninterruptibly(
                    ending, 2 * context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            outcomes = Map.copyOf(ended);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
        List<RuntimeException> failures = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            Hold part = parts.get(i);
            ReleaseOutcome outcome = outcomes.getOrDefault(part.name(), ReleaseOutcome.UNCONFIRMED);
            if (outcome == ReleaseOutcome.LOST) {
                failures.add(lossOf(part, tokens[i]));
            } else if (outcome == ReleaseOutcome.UNCONFIRMED) {
                failures.add(context.failures().unconfirmed(part.name(), tokens[i], part.effectiveLease(), null));
            }
        }
        throwFirst(failures);
    }

    private LockLostException lossOf(Hold part, long token) {
        LockLostException known = lostBefore.get(part.name());
        if (known != null) {
            return known;
        }
        Loss loss = part instanceof LocalHold local ? local.loss() : null;
        return new LockLostException(
                loss != null ? loss : new Loss(part.name(), context.product(), token, Loss.Cause.REMOVED));
    }

    private void requireOpen() {
        if (isClosed.get()) {
            throw new IllegalStateException("The hold on " + names() + " was released");
        }
    }

    private static void throwFirst(List<RuntimeException> failures) {
        if (!failures.isEmpty()) {
            throw Failures.joined(failures);
        }
    }

    private static long tokenOrZero(Hold hold) {
        try {
            return hold.fencingToken();
        } catch (LockLostException e) {
            return e.loss().token();
        }
    }

    @Override
    public String toString() {
        return "MultiHold" + names();
    }
}
