package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The clients of an application that were made so far, and why the configured one was not. Asking for them makes none.
 * Thread-safe.
 */
final class HoldfastClients {

    private final ConfigurableListableBeanFactory beans;
    private volatile @Nullable RuntimeException failure;

    HoldfastClients(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Makes a part of the configured client, and remembers if that has failed. */
    <T> T make(Supplier<T> making) {
        try {
            T made = making.get();
            failure = null;
            return made;
        } catch (RuntimeException e) {
            failure = e;
            throw e;
        }
    }

    /** Why the configured client could not be made when it was last needed; empty if it could, or was not needed. */
    Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    /** Makes all clients that may be injected. */
    void open() {
        beans.getBeanProvider(Holdfast.class).stream().forEach(client -> {});
    }

    /** Those that were made, by the names of their beans. */
    Map<String, Holdfast> present() {
        return present(Holdfast.class);
    }

    /** The beans of a type that were made, by name. */
    <T> Map<String, T> present(Class<T> type) {
        Map<String, T> present = new LinkedHashMap<>();
        Arrays.stream(beans.getBeanNamesForType(type, false, false))
                .filter(beans::containsSingleton)
                .forEach(name -> present.put(name, beans.getBean(name, type)));
        return present;
    }
}
