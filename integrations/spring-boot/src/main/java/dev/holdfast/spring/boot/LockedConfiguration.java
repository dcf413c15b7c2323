package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.LockTemplate;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LockedDefaults.ClientOpening;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Makes the annotations of {@code holdfast-spring} effective; an {@link EnableHoldfast} of the application's wins. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EnableHoldfast.class)
@EnableHoldfast
class LockedConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockedDefaults lockedDefaults(HoldfastProperties properties) {
        LockedDefaults defaults = LockedDefaults.standard().withMaxWait(properties.maxWait());
        return Boolean.FALSE.equals(properties.openAtStartup())
                ? defaults.withClientOpening(ClientOpening.ON_FIRST_USE)
                : defaults;
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    LockTemplate lockTemplate(
            Holdfast holdfast,
            LockedDefaults defaults,
            ApplicationEventPublisher publisher,
            @Qualifier("applicationTaskExecutor") ObjectProvider<Executor> executor) {
        LockTemplate template =
                new LockTemplate(holdfast).withMaxWait(defaults.maxWait()).withEvents(publisher);
        return executor.stream().findAny().map(template::withExecutor).orElse(template);
    }
}
