package dev.holdfast.spring.boot;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Sets up a {@link Holdfast.Builder} like the auto-configured one: with the properties, the {@link HoldfastListener}
 * beans and the {@link HoldfastBuilderCustomizer} beans. For an application that defines its own client.
 *
 * <pre>
 * &#64;Bean
 * Holdfast holdfast(HoldfastBuilderConfigurer configurer) {
 *     return configurer.configure(Holdfast.builder("sqlite:locks.db")).build();
 * }
 * </pre>
 *
 * <p>Each client has its own meters, whose tag {@code client} is the name of the client's bean.
 *
 * <p><b>Thread-safety:</b> may be used by several threads at the same time, with separate builders.
 */
public final class HoldfastBuilderConfigurer {

    private final HoldfastProperties properties;
    private final String program;
    private final HoldfastClients clients;
    private final ObjectProvider<HoldfastListener> listeners;
    private final ObjectProvider<ClientListeners> clientListeners;
    private final ObjectProvider<HoldfastBuilderCustomizer> customizers;

    /**
     * A configurer that sets builders up by properties.
     *
     * @param program the name of the application; may be empty
     * @throws HoldfastConfigurationException if a property is out of range
     */
    HoldfastBuilderConfigurer(
            HoldfastProperties properties,
            String program,
            HoldfastClients clients,
            ObjectProvider<HoldfastListener> listeners,
            ObjectProvider<ClientListeners> clientListeners,
            ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        this.properties = properties;
        this.program = program;
        this.clients = clients;
        this.listeners = listeners;
        this.clientListeners = clientListeners;
        this.customizers = customizers;
        checkRanges();
    }

    /**
     * Sets up a builder. Later settings take precedence.
     *
     * @return the builder
     * @throws IllegalArgumentException if a property is out of range
     */
    public Holdfast.Builder configure(Holdfast.Builder builder) {
        applyProperties(builder);
        listeners.orderedStream().forEach(builder::listener);
        String client = clients.nameInCreation();
        clientListeners.orderedStream().forEach(each -> builder.listener(each.of(client)));
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return builder;
    }

    @CanIgnoreReturnValue
    private Holdfast.Builder applyProperties(Holdfast.Builder builder) {
        builder.sessionTtl(properties.sessionTtl())
                .storeTimeout(properties.storeTimeout())
                .cohortBudget(properties.cohortBudget())
                .namePrefix(properties.namePrefix())
                .onDeadlock(properties.onDeadlock())
                .program(program);
        if (properties.keepAliveEvery() != null) {
            builder.keepAliveEvery(properties.keepAliveEvery());
        }
        if (properties.startsWithoutStore()) {
            builder.startInBackground();
        }
        if (properties.label() != null) {
            builder.label(properties.label());
        }
        return builder;
    }

    /** Called when the application starts, even if its client is opened later. */
    private void checkRanges() {
        try {
            applyProperties(Holdfast.builder(new NoStore()));
            Duration every = properties.keepAliveEvery();
            if (every != null && every.compareTo(properties.sessionTtl().dividedBy(3)) > 0) {
                throw new IllegalArgumentException("keepAliveEvery must be at most a third of sessionTtl");
            }
            if (properties.healthTimeout().isNegative()
                    || properties.healthTimeout().isZero()) {
                throw new IllegalArgumentException("healthTimeout must be positive");
            }
            properties.healthTasks().forEach((task, limit) -> {
                if (limit.isNegative() || limit.isZero()) {
                    throw new IllegalArgumentException(
                            "healthTasks must be positive, but that of '" + task + "' is not");
                }
            });
        } catch (IllegalArgumentException e) {
            throw HoldfastConfigurationException.outOfRange(e);
        }
    }

    /** Replaces the store while settings are checked; never used. */
    private static final class NoStore implements LockStore {
        @Override
        public StoreTraits traits() {
            return StoreTraits.of("none").build();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
