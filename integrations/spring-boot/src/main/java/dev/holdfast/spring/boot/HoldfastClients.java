package dev.holdfast.spring.boot;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The clients of an application that have been created, and the failure if the configured one could not be.
 * Thread-safe.
 */
final class HoldfastClients {

    /** Long enough for the callers that wait behind an attempt. */
    private static final long PAUSE_MILLIS = 1_000;

    private final ConfigurableListableBeanFactory beans;
    private volatile @Nullable RuntimeException failure;

    /** Until when the store is not tried again. */
    private volatile CompletableFuture<@Nullable Void> pause = CompletableFuture.completedFuture(null);

    HoldfastClients(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Creates a part of the configured client, and remembers a failure. If the store did not reply, callers get the
     * same failure for a while, since each attempt takes up to the store's time-outs, and Spring lets callers make
     * their attempts only one after the other.
     */
    <T> T make(Supplier<T> making) {
        RuntimeException recent = failure;
        if (recent != null && !pause.isDone()) {
            throw recent;
        }
        try {
            T made = making.get();
            failure = null;
            return made;
        } catch (StoreUnavailableException e) {
            pause = new CompletableFuture<@Nullable Void>()
                    .completeOnTimeout(null, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            failure = e;
            throw e;
        } catch (RuntimeException e) {
            failure = e;
            throw e;
        }
    }

    /** The failure of the last attempt to create the configured client; empty without a failure or an attempt. */
    Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    /** The names of all clients, created or not. */
    List<String> names() {
        return List.of(beans.getBeanNamesForType(Holdfast.class, false, false));
    }

    /** A client; created now if it does not exist. */
    @CanIgnoreReturnValue
    Holdfast get(String name) {
        return beans.getBean(name, Holdfast.class);
    }

    /** The name of the client that is being created: that of its bean, or a default if that is not known. */
    String nameInCreation() {
        List<String> inCreation =
                names().stream().filter(beans::isCurrentlyInCreation).toList();
        return inCreation.size() == 1 ? inCreation.get(0) : "holdfast";
    }

    /** The existing clients, by the names of their beans. */
    Map<String, Holdfast> present() {
        return present(Holdfast.class);
    }

    /** The existing beans of a type, by name. */
    <T> Map<String, T> present(Class<T> type) {
        Map<String, T> present = new LinkedHashMap<>();
        Arrays.stream(beans.getBeanNamesForType(type, false, false))
                .filter(beans::containsSingleton)
                .forEach(name -> present.put(name, beans.getBean(name, type)));
        return present;
    }
}
