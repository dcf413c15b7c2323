package dev.holdfast.store.memory;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Opens {@code memory:}, a new store each time, and {@code memory:NAME}, one store shared by all who open that name in
 * this JVM. A named store exists while at least one connection to it is open.
 */
public final class MemoryStoreProvider implements StoreProvider {

    /** The open named stores. Static, because a name means the same store everywhere in a JVM. Guarded by itself. */
    private static final Map<String, Named> NAMED = new HashMap<>();

    private static final class Named {
        private final ReferenceStore store = new ReferenceStore();
        private int open;
    }

    /** For {@link java.util.ServiceLoader}. */
    public MemoryStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        uri.allowOnly(Set.of());
        return uri.rest().isEmpty() ? new ReferenceStore() : openNamed(uri.rest());
    }

    private static LockStore openNamed(String name) {
        synchronized (NAMED) {
            Named named = NAMED.computeIfAbsent(name, unused -> new Named());
            named.open++;
            return named.store.connect(() -> closeNamed(name, named));
        }
    }

    private static void closeNamed(String name, Named named) {
        synchronized (NAMED) {
            named.open--;
            if (named.open == 0) {
                NAMED.remove(name);
            }
        }
    }
}
