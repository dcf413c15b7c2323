package dev.holdfast.spring.test;

import org.springframework.aot.AotDetector;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/** Puts the store of a test into its context. It is part of the key of that context, so equality is by settings. */
record EmbeddedHoldfastCustomizer(ClientSettings settings) implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
        // In code generated ahead of time, the beans are already replaced.
        if (!AotDetector.useGeneratedArtifacts()) {
            context.addBeanFactoryPostProcessor(new BeanReplacement(settings));
        }
    }
}
