package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** What a native image has to contain for stores: the statements that make tables, and the scripts that servers run. */
final class HoldfastRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources()
                .registerPattern("dev/holdfast/store/jdbc/*.sql")
                .registerPattern("dev/holdfast/store/sqlite/*.sql")
                .registerPattern("dev/holdfast/sql/rows/*.sql")
                .registerPattern("dev/holdfast/store/redis/script/*.lua");
    }
}
