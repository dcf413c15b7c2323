package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;

/**
 * A bean that changes settings of the auto-configured {@link Holdfast}, after the properties. Several beans are called
 * in their order.
 */
@FunctionalInterface
public interface HoldfastBuilderCustomizer {

    /** Changes settings of the client that is about to be built. */
    void customize(Holdfast.Builder builder);
}
