package dev.holdfast.engine;

import dev.holdfast.Environment;
import dev.holdfast.HoldfastListener;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A whole engine whose threads a simulation drives by events. */
public final class SimulatedClient {

    private final Engine engine;

    private SimulatedClient(Engine engine) {
        this.engine = engine;
    }

    /** Starts an engine. */
    public static CompletionStage<SimulatedClient> start(
            LockStore store,
            Environment environment,
            Duration ttl,
            Duration budget,
            String label,
            OnDeadlock onDeadlock,
            HoldfastListener listener,
            SafetyRules rules) {
        ClientOptions options = new ClientOptions(
                ttl,
                ttl.dividedBy(3),
                budget,
                Duration.ofSeconds(10),
                label,
                List.of(listener),
                ClientOptions.Start.WITH_SESSION,
                onDeadlock);
        Engine engine =
                Engine.launch(() -> store, "sim", false, options, Optional.of(environment), rules, CallerMode.ASYNC);
        return engine.ready().thenApply(SimulatedClient::new);
    }

    /** What its threads use. */
    public LocalResources resources() {
        return engine.primitives().local;
    }
}
