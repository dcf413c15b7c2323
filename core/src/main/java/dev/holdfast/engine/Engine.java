package dev.holdfast.engine;

import dev.holdfast.DistributedLock;
import dev.holdfast.Environment;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.function.Supplier;

/** The door of the engine: one client. */
public final class Engine {

    private Engine() {}

    /** Opens the store and the session. */
    public static Engine start(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            EngineOptions options,
            Optional<Environment> environment) {
        return under();
    }

    /** The lock of a name. */
    public DistributedLock lock(ResourceName name, Order order) {
        return under();
    }

    /** Ends this client. */
    public void close() {}

    @SuppressWarnings({"DoNotCallSuggester", "TypeParameterUnusedInFormals"})
    static <T> T under() {
        throw new UnsupportedOperationException();
    }
}
