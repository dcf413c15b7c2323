package dev.holdfast.spring.boot;

import dev.holdfast.spring.EnableHoldfast;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of a warning where Holdfast is switched off: annotated methods run without their locks. */
@AutoConfiguration
@ConditionalOnClass(EnableHoldfast.class)
@ConditionalOnBooleanProperty(name = "holdfast.enabled", havingValue = false)
// An application may enable the annotations itself.
@ConditionalOnMissingBean(name = "dev.holdfast.spring.lockedAdvisor")
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class UnlockedMethodsAutoConfiguration {

    /** Called by Spring. */
    public UnlockedMethodsAutoConfiguration() {}

    @Bean
    UnlockedMethods holdfastUnlockedMethods(ConfigurableListableBeanFactory beans) {
        return new UnlockedMethods(beans);
    }
}
