package dev.holdfast.spring.boot;

import dev.holdfast.console.LockConsole;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the {@link HoldfastConsoleEndpoint}. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({ConditionalOnAvailableEndpoint.class, LockConsole.class})
@ConditionalOnAvailableEndpoint(HoldfastConsoleEndpoint.class)
@ConditionalOnBean(HoldfastClients.class)
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastConsoleAutoConfiguration {

    private static final EndpointId LOCKS = EndpointId.of("holdfast");

    /** Called by Spring. */
    public HoldfastConsoleAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    HoldfastConsoleEndpoint holdfastConsoleEndpoint(
            HoldfastClients clients, EndpointAccessResolver access, ObjectProvider<PathMapper> paths) {
        String path = PathMapper.getRootPath(paths.orderedStream().toList(), EndpointId.of("holdfastconsole"));
        return new HoldfastConsoleEndpoint(
                clients,
                () -> access.accessFor(LOCKS, Access.READ_ONLY) != Access.UNRESTRICTED,
                path.substring(path.lastIndexOf('/') + 1));
    }
}
