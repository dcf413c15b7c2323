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
 * The clients of an application that were made so far, and why the configured one was not. Asking for them makes none.
 * Thread-safe.
 */
final class HoldfastClients {

    /** Long enough for those that wait behind an attempt. */
    private static final long PAUSE_MILLIS = 1_000;

    private final ConfigurableListableBeanFactory beans;
    private volatile @Nullable RuntimeException failure;

    /** Ends when the store may be tried again. */
    private volatile CompletableFuture<@Nullable Void> pause = CompletableFuture.completedFuture(null);

    HoldfastClients(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Makes a part of the configured client, and remembers if that has failed. If the store did not answer, callers get
     * the same failure for a while: each attempt takes up to the time-outs of the store, and callers make them one
     * after the other, under a lock of Spring's.
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

    /** Why the configured client could not be made when it was last needed; empty if it could, or was not needed. */
    Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    /** The names of all clients, made or not. */
    List<String> names() {
        return List.of(beans.getBeanNamesForType(Holdfast.class, false, false));
    }

    /** A client, which is made now if it was not. */
    @CanIgnoreReturnValue
    Holdfast get(String name) {
        return beans.getBean(name, Holdfast.class);
    }

    /** The name of the client that is being made: that of its bean, or a default where that is not known. */
    String nameInCreation() {
        List<String> inCreation =
                names().stream().filter(beans::isCurrentlyInCreation).toList();
        return inCreation.size() == 1 ? inCreation.get(0) : "holdfast";
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
