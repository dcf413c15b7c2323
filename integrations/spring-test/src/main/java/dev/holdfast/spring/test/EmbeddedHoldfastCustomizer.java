package dev.holdfast.spring.test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/** Puts the store of a test into its context. Part of the key of that context: equal by the settings. */
record EmbeddedHoldfastCustomizer(ClientSettings settings) implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
        context.addBeanFactoryPostProcessor(new BeanReplacement(settings));
    }
}
