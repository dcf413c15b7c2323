package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.spring.EnableHoldfast;
import dev.holdfast.spring.LockTemplate;
import dev.holdfast.spring.LockedDefaults;
import dev.holdfast.spring.LockedDefaults.ClientOpening;
import dev.holdfast.spring.LossReaction;
import dev.holdfast.spring.ReactiveLockTemplate;
import dev.holdfast.spring.SurroundingTransaction;
import dev.holdfast.spring.TimeoutReaction;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Enables the annotations of {@code holdfast-spring}, unless the application has an {@link EnableHoldfast}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(EnableHoldfast.class)
@EnableHoldfast
class LockedConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockedDefaults holdfastLockedDefaults(HoldfastProperties properties) {
        try {
            LockedDefaults defaults = LockedDefaults.standard()
                    .withMaxWait(properties.maxWait())
                    .withOnTimeout(
                            TimeoutReaction.valueOf(properties.onTimeout().name()))
                    .withOnLoss(LossReaction.valueOf(properties.onLoss().name()))
                    .withSurroundingTransaction(SurroundingTransaction.valueOf(
                            properties.surroundingTransaction().name()));
            if (properties.atMost() != null) {
                defaults = defaults.withAtMost(properties.atMost());
            }
            return Boolean.FALSE.equals(properties.openAtStartup())
                    ? defaults.withClientOpening(ClientOpening.ON_FIRST_USE)
                    : defaults;
        } catch (IllegalArgumentException e) {
            throw HoldfastConfigurationException.outOfRange(e);
        }
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    LockTemplate holdfastLockTemplate(
            Holdfast holdfast,
            LockedDefaults defaults,
            ApplicationEventPublisher publisher,
            @Qualifier("applicationTaskExecutor") ObjectProvider<Executor> executor) {
        LockTemplate template = new LockTemplate(holdfast)
                .withMaxWait(defaults.maxWait())
                .withOnLoss(defaults.onLoss())
                .withSurroundingTransaction(defaults.surroundingTransaction())
                .withEvents(publisher);
        return executor.stream().findAny().map(template::withExecutor).orElse(template);
    }

    /** For applications with Reactor. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "reactor.core.publisher.Mono")
    static class ReactiveConfiguration {

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        ReactiveLockTemplate holdfastReactiveLockTemplate(LockTemplate template) {
            return new ReactiveLockTemplate(template);
        }
    }
}
