package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Sets a {@link Holdfast.Builder} up as the auto-configured one: by the properties, the {@link HoldfastListener} beans
 * and the {@link HoldfastBuilderCustomizer} beans. For an application that defines a client of its own.
 *
 * <pre>
 * &#64;Bean
 * Holdfast holdfast(HoldfastBuilderConfigurer configurer) {
 *     return configurer.configure(Holdfast.builder("sqlite:locks.db")).build();
 * }
 * </pre>
 *
 * <p><b>Thread-safety:</b> may be used by any number of threads, each with a builder of its own.
 */
public final class HoldfastBuilderConfigurer {

    private final HoldfastProperties properties;
    private final ObjectProvider<HoldfastListener> listeners;
    private final ObjectProvider<HoldfastBuilderCustomizer> customizers;

    HoldfastBuilderConfigurer(
            HoldfastProperties properties,
            ObjectProvider<HoldfastListener> listeners,
            ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        this.properties = properties;
        this.listeners = listeners;
        this.customizers = customizers;
    }

    /**
     * Sets a builder up; what is set afterwards wins.
     *
     * @return the builder
     * @throws IllegalArgumentException if a property is out of range
     */
    public Holdfast.Builder configure(Holdfast.Builder builder) {
        builder.sessionTtl(properties.sessionTtl())
                .storeTimeout(properties.storeTimeout())
                .cohortBudget(properties.cohortBudget())
                .namePrefix(properties.namePrefix());
        if (properties.startsWithoutStore()) {
            builder.startInBackground();
        }
        if (properties.label() != null) {
            builder.label(properties.label());
        }
        listeners.orderedStream().forEach(builder::listener);
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return builder;
    }
}
