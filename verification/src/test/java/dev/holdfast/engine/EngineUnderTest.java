package dev.holdfast.engine;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.testkit.sim.ClientUnderTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A real engine in a simulated world. */
record EngineUnderTest(Engine engine) implements ClientUnderTest {

    /** Starts engines that keep the given rules. */
    static Starter keeping(SafetyRules rules) {
        return (store, environment, settings) -> {
            EngineOptions options = new EngineOptions(
                    settings.sessionTtl(),
                    settings.sessionTtl().dividedBy(3),
                    settings.cohortBudget(),
                    settings.storeTimeout(),
                    settings.label());
            Engine engine =
                    Engine.launch(() -> store, "sim", false, options, Optional.of(environment), rules, Caller.GOES_ON);
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
        return engine.lock(new ResourceName(name), options.isBarging() ? Order.BARGING : Order.FAIR);
    }

    @Override
    public CompletionStage<Void> extend(Hold hold, Duration lease) {
        try {
            return Leases.extendAsync(engine, (LocalHold) hold, lease);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    @Override
    public CompletionStage<Void> close() {
        return engine.closeAsync();
    }
}
