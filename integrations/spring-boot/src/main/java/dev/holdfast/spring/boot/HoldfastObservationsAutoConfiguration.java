package dev.holdfast.spring.boot;

import dev.holdfast.micrometer.HoldfastObservations;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration of the observations of clients, for traces. */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass({HoldfastObservations.class, ObservationRegistry.class, MeterFilter.class})
@ConditionalOnBean({HoldfastClients.class, ObservationRegistry.class})
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastObservationsAutoConfiguration {

    /** Called by Spring. */
    public HoldfastObservationsAutoConfiguration() {}

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    HoldfastObservations holdfastObservations(ObservationRegistry registry) {
        return HoldfastObservations.of(registry);
    }

    /** Needed because Spring Boot creates meters for all observations, and locks have their own. */
    @Bean
    static MeterFilter holdfastObservationMeterFilter() {
        return MeterFilter.deny(id -> id.getName().startsWith("holdfast.lock."));
    }
}
