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

/** Auto-configuration of the meters of each client, which are there when it is; their tag is the name of its bean. */
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
    @ConditionalOnMissingBean(HoldfastMetrics.class)
    ClientListeners holdfastClientMeters(MeterRegistry registry, HoldfastProperties properties) {
        // A client that could not be made is tried again, and has the meters of the first try.
        Map<String, HoldfastListener> made = new ConcurrentHashMap<>();
        return name -> made.computeIfAbsent(
                name,
                client -> HoldfastMetrics.builder(registry)
                        .client(client)
                        .lockNames(properties.metrics().lockNames())
                        .build());
    }
}
