package dev.holdfast.spring.boot;

import dev.holdfast.spi.KnownStores;
import dev.holdfast.spi.KnownStores.KnownStore;
import dev.holdfast.spi.StoreDescription;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The stores of this release, by whether the application has their modules. */
final class StoreModules {

    private StoreModules() {}

    static Stream<StoreDescription> present(@Nullable ClassLoader loader) {
        return KnownStores.ALL.stream()
                .filter(store -> isPresent(store, loader))
                .map(KnownStore::description);
    }

    /** The stores whose modules the application would have to add. */
    static Stream<StoreDescription> missing(@Nullable ClassLoader loader) {
        return KnownStores.ALL.stream()
                .filter(store -> !isPresent(store, loader))
                .map(KnownStore::description);
    }

    private static boolean isPresent(KnownStore store, @Nullable ClassLoader loader) {
        return ClassUtils.isPresent(store.provider(), loader);
    }
}
