package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastListener;
import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration of the meters of each client. They exist as long as the client; their tag is its bean name. */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
        })
@ConditionalOnClass({HoldfastMetrics.class, MeterRegistry.class})
@ConditionalOnBean({HoldfastClients.class, MeterRegistry.class})
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastMetricsAutoConfiguration {

    /** Called by Spring. */
    public HoldfastMetricsAutoConfiguration() {}

    @Bean
    @Lazy
    @ConditionalOnMissingBean(HoldfastMetrics.class)
    ClientListeners holdfastClientMeters(MeterRegistry registry, HoldfastProperties properties) {
        // Another attempt to create a client uses the meters of the first.
        Map<String, HoldfastListener> made = new ConcurrentHashMap<>();
        return name -> made.computeIfAbsent(
                name,
                client -> HoldfastMetrics.builder(registry)
                        .client(client)
                        .lockNames(properties.metrics().lockNames())
                        .build());
    }
}
