package dev.holdfast.engine;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import dev.holdfast.Lockable;
import dev.holdfast.MultiLock;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.local.LeaseExtension;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.Sharing;
import dev.holdfast.engine.lock.NestedHold;
import dev.holdfast.engine.semaphore.PermitHold;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.testkit.sim.ClientUnderTest;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** A real engine in a simulated world. */
class EngineUnderTest implements ClientUnderTest {

    final Engine engine;

    EngineUnderTest(Engine engine) {
        this.engine = engine;
    }

    /** Starts an engine with the usual settings in a still world. */
    static Engine start(World world, LockStore link) {
        ClientOptions options = new ClientOptions(
                Duration.ofSeconds(30), Duration.ofSeconds(10), Duration.ofMillis(10), Duration.ofSeconds(10), "alice");
        return Engine.start(() -> link, "memory", false, options, Optional.of(world.time()));
    }

    /** Starts engines that keep the given rules. */
    static Starter keeping(SafetyRules rules) {
        return (store, environment, settings) -> {
            ClientOptions options = new ClientOptions(
                    settings.sessionTtl(),
                    settings.sessionTtl().dividedBy(3),
                    settings.cohortBudget(),
                    settings.storeTimeout(),
                    settings.label());
            Engine engine = Engine.launch(
                    () -> store, "sim", false, options, Optional.of(environment), rules, CallerMode.ASYNC);
            return engine.ready().handle((ready, failure) -> {
                if (failure != null) {
                    engine.closeAsync();
                    throw new IllegalStateException(failure);
                }
                return new EngineUnderTest(ready);
            });
        };
    }

    @Override
    public DistributedLock lock(String name, LockOptions options) {
        return engine.primitives().lock(new ResourceName(name), orderOf(options));
    }

    @Override
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return engine.primitives().readWriteLock(new ResourceName(name), orderOf(options));
    }

    @Override
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        return engine.primitives().semaphore(new ResourceName(name), permits, orderOf(options));
    }

    @Override
    public DistributedCountDownLatch latch(String name) {
        return engine.primitives().latch(new ResourceName(name));
    }

    @Override
    public LeaderElection election(String name) {
        return engine.primitives().election(new ResourceName(name));
    }

    @Override
    public MultiLock lockAll(List<? extends Lockable> parts) {
        return engine.primitives().lockAll(parts);
    }

    /** A thread that has a hold gets a nested one; here no actor is a thread. */
    @Override
    public Hold enterAgain(Hold hold, boolean writes) {
        LocalHold outer = (LocalHold) hold;
        boolean isReader = !writes && outer.resource().spec.kind() == Kind.READ_WRITE;
        Sharing sharing = isReader ? Sharing.SHARED : Sharing.EXCLUSIVE;
        outer.enterAgain(sharing);
        return new NestedHold(outer, sharing);
    }

    @Override
    public CompletionStage<Boolean> release(String semaphore, String id) {
        Command.Release command = new Command.Release(PermitHold.refOf(new ResourceName(semaphore), id));
        CompletableFuture<Reply> answer =
                engine.partition(new ResourceName(semaphore)).wire.ask(command, CallerMode.ASYNC);
        return told(semaphore, answer.thenApply(Reply.Released.class::isInstance));
    }

    @Override
    public CompletionStage<Boolean> resize(String semaphore, int permits) {
        ResourceName name = new ResourceName(semaphore);
        return told(
                semaphore,
                dev.holdfast.engine.session.EpochGuardedCall.ask(
                                engine.partition(name),
                                (session, epoch) -> new Command.Resize(name, session, epoch, permits))
                        .thenApply(Reply.Done.class::isInstance));
    }

    private <T> CompletionStage<T> told(String name, CompletableFuture<T> answer) {
        return answer.exceptionallyCompose(failure -> {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            return CompletableFuture.failedFuture(
                    cause instanceof StoreException known ? engine.context().storeFailure(name, known) : cause);
        });
    }

    private static Order orderOf(LockOptions options) {
        return options.isBarging() ? Order.BARGING : Order.FAIR;
    }

    @Override
    public CompletionStage<Void> extend(Hold hold, Duration lease) {
        try {
            return LeaseExtension.extendAsync((LocalHold) hold, lease);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    @Override
    public CompletionStage<Void> close() {
        return engine.closeAsync();
    }
}
