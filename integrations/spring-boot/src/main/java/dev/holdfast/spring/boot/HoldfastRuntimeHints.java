package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers for native images what stores need: the statements that create tables, the scripts that servers run, and
 * the fields of Spring Data's connection factories; and the files of the console's page.
 */
final class HoldfastRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources()
                .registerPattern("dev/holdfast/store/jdbc/*.sql")
                .registerPattern("dev/holdfast/store/sqlite/*.sql")
                .registerPattern("dev/holdfast/sql/rows/*.sql")
                .registerPattern("dev/holdfast/store/redis/script/*.lua")
                .registerPattern("dev/holdfast/console/page/**");
        hints.reflection()
                .registerTypeIfPresent(
                        loader,
                        "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
                        MemberCategory.ACCESS_DECLARED_FIELDS);
    }
}
