package dev.holdfast.spring.boot;

import java.time.InstantSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/**
 * Auto-configuration of the health of the lock store, under the name {@code holdfast}, and of scheduled tasks that are
 * named in properties, as {@code holdfastTasks}.
 */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("holdfast")
@ConditionalOnBean(HoldfastClients.class)
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastHealthContributorAutoConfiguration {

    /** Called by Spring. */
    public HoldfastHealthContributorAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "holdfastHealthIndicator")
    HoldfastHealthIndicator holdfastHealthIndicator(HoldfastClients clients, HoldfastProperties properties) {
        return new HoldfastHealthIndicator(clients, properties.healthTimeout());
    }

    @Bean
    @ConditionalOnMissingBean(name = "holdfastTasksHealthIndicator")
    @Conditional(HoldfastTasksHealthIndicator.AreNamed.class)
    HoldfastTasksHealthIndicator holdfastTasksHealthIndicator(HoldfastClients clients, HoldfastProperties properties) {
        return new HoldfastTasksHealthIndicator(
                clients, properties.healthTasks(), properties.healthTimeout(), InstantSource.system());
    }
}
