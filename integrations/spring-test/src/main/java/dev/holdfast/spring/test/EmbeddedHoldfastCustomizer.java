package dev.holdfast.spring.test;

import org.springframework.aot.AotDetector;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/** Puts the store of a test into its context. Part of the key of that context: equal by the settings. */
record EmbeddedHoldfastCustomizer(ClientSettings settings) implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
        // What is generated ahead of time has the beans replaced already.
        if (!AotDetector.useGeneratedArtifacts()) {
            context.addBeanFactoryPostProcessor(new BeanReplacement(settings));
        }
    }
}
