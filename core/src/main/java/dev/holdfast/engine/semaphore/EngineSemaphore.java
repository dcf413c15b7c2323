package dev.holdfast.engine.semaphore;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Lockable;
import dev.holdfast.Permits;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.engine.session.EpochGuardedCall;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The semaphore of one name. Turns calls into requests or commands. Immutable. */
public final class EngineSemaphore implements DistributedSemaphore {

    /** How many times an inspection is repeated when others have changed the permits meanwhile. */
    private static final int MAX_DRAINS = 10;

    private final LocalResources resources;
    private final ClientContext context;
    private final ResourceName name;
    private final ResourceSpec spec;

    public EngineSemaphore(LocalResources resources, ResourceName name, ResourceSpec spec) {
        this.resources = resources;
        this.context = resources.context;
        this.name = name;
        this.spec = spec;
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public int permits() {
        return spec.capacity();
    }

    @Override
    public Lockable permits(int permits) {
        return new SemaphorePermits(resources, name, spec, permits);
    }

    @Override
    public Permits acquire() throws InterruptedException {
        return acquire(1);
    }

    @Override
    public Permits acquire(int permits) throws InterruptedException {
        return acquire(permits, AcquireOptions.defaults());
    }

    @Override
    public Permits acquire(int permits, AcquireOptions options) throws InterruptedException {
        Acquirer acquirer = acquirer(permits);
        throwIfInterrupted();
        return (Permits) acquirer.awaitOrTimeOut(this, AcquireTerms.of(options));
    }

    @Override
    public Optional<Permits> tryAcquire() {
        return tryAcquire(1);
    }

    @Override
    public Optional<Permits> tryAcquire(int permits) {
        try {
            return Optional.ofNullable(await(permits, AcquireTerms.TRY));
        } catch (InterruptedException e) {
            throw new AssertionError("a wait that ignores interrupts was interrupted", e);
        }
    }

    @Override
    public Optional<Permits> tryAcquire(int permits, AcquireOptions options) throws InterruptedException {
        return Optional.ofNullable(await(permits, AcquireTerms.of(options)));
    }

    private @Nullable Permits await(int permits, AcquireTerms terms) throws InterruptedException {
        Acquirer acquirer = acquirer(permits);
        if (terms.isInterruptible()) {
            throwIfInterrupted();
        }
        return (Permits) acquirer.await(this, terms);
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before requesting permits of '" + name + "'");
        }
    }

    @Override
    public CompletionStage<Permits> acquireAsync(int permits, AcquireOptions options) {
        CompletionStage<Hold> stage = acquirer(permits).enter(AcquireTerms.of(options));
        return permitsOf(stage);
    }

    // The same stage, so that cancelling it cancels the request. All holds of a semaphore are permits.
    @SuppressWarnings("unchecked")
    private static CompletionStage<Permits> permitsOf(CompletionStage<? extends Hold> stage) {
        return (CompletionStage<Permits>) stage;
    }

    private Acquirer acquirer(int permits) {
        if (permits < 1 || permits > spec.capacity()) {
            throw new IllegalArgumentException(
                    "Semaphore '" + name + "' has " + spec.capacity() + " permits: can't acquire " + permits);
        }
        return new Acquirer(resources, name, Mode.unowned(spec, permits, PermitHold::new));
    }

    @Override
    public Optional<Permits> drainPermits() {
        Optional<Permits> drained = Optional.empty();
        for (int i = 0; i < MAX_DRAINS && drained.isEmpty(); i++) {
            Optional<ResourceInfo> present = inspect();
            int free = present.map(EngineSemaphore::freeIn).orElse(spec.capacity());
            boolean isAwaited = present.map(info -> info.waiting() > 0).orElse(false);
            if (free == 0 || (isAwaited && spec.order() == Order.FAIR)) {
                return Optional.empty();
            }
            drained = tryAcquire(Math.min(free, spec.capacity()));
        }
        return drained;
    }

    @Override
    public int availablePermits() {
        return inspect().map(EngineSemaphore::freeIn).orElse(spec.capacity());
    }

    private static int freeIn(ResourceInfo info) {
        return (int) Math.max(0, info.spec().capacity() - info.usedCapacity());
    }

    private Optional<ResourceInfo> inspect() {
        context.requireOpen();
        Optional<ResourceInfo> found = await(ResourceInspection.askWithin(
                resources.partition(name).wire,
                name,
                CallerMode.BLOCKING,
                context.options().storeTimeout()));
        found.map(ResourceInfo::declared)
                .filter(declared -> !declared.equals(spec))
                .ifPresent(declared -> {
                    throw new LockMismatchException(
                            name.value(),
                            context.product(),
                            "it is in use as " + lower(declared.order()) + " " + lower(declared.kind())
                                    + " of capacity " + declared.capacity());
                });
        return found;
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public boolean resize(int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException("A semaphore must have at least one permit, not " + permits);
        }
        context.requireOpen();
        Reply reply = await(EpochGuardedCall.ask(
                resources.partition(name), (session, epoch) -> new Command.Resize(name, session, epoch, permits)));
        if (reply instanceof Reply.Refused refused) {
            throw new LockMismatchException(name.value(), context.product(), refused.detail());
        }
        return reply instanceof Reply.Done;
    }

    @Override
    public boolean release(String permitId) {
        ClaimRef claim = PermitHold.refOf(name, permitId);
        context.requireOpen();
        CompletableFuture<Reply> answer = resources
                .partition(name)
                .wire
                .askWithin(
                        new Command.Release(claim),
                        CallerMode.BLOCKING,
                        context.options().storeTimeout().toNanos());
        return await(answer) instanceof Reply.Released;
    }

    /** Waits for the store's answer, and turns its failure into the exception for users. */
    private <T> T await(CompletableFuture<T> answer) {
        Duration storeTimeout = context.options().storeTimeout();
        try {
            return Uninterruptibles.uninterruptibly(answer, 2 * storeTimeout.toNanos());
        } catch (TimeoutException e) {
            throw context.failures().unanswered(name.value(), storeTimeout.multipliedBy(2), null);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                throw context.storeFailure(name.value(), failure);
            }
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name + ", " + spec.capacity() + ", " + context.product() + "]";
    }
}
