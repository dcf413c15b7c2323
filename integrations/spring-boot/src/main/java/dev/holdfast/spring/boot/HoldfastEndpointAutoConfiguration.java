package dev.holdfast.spring.boot;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the {@link HoldfastEndpoint}. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(HoldfastEndpoint.class)
@ConditionalOnBean(HoldfastClients.class)
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastEndpointAutoConfiguration {

    /** Called by Spring. */
    public HoldfastEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    HoldfastEndpoint holdfastEndpoint(HoldfastClients clients) {
        return new HoldfastEndpoint(clients);
    }
}
