package dev.holdfast.spring.boot;

import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration of the meters of the client, which are there when it is. */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
        })
@ConditionalOnClass({HoldfastMetrics.class, MeterRegistry.class})
@ConditionalOnBean({HoldfastClients.class, MeterRegistry.class})
// Nobody but Spring has to do with what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastMetricsAutoConfiguration {

    /** For Spring. */
    public HoldfastMetricsAutoConfiguration() {}

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    HoldfastMetrics holdfastMetrics(MeterRegistry registry, HoldfastProperties properties) {
        return HoldfastMetrics.builder(registry)
                .lockNames(properties.metrics().lockNames())
                .build();
    }
}
