package dev.holdfast.spring.test;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;

/** Finds the tests with {@link EmbeddedHoldfast}. Called by Spring. */
final class EmbeddedHoldfastCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> test, List<ContextConfigurationAttributes> configuration) {
        return ClientSettings.of(test).map(EmbeddedHoldfastCustomizer::new).orElse(null);
    }
}
