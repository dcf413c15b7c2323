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
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;

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
            HoldfastClients clients,
            HoldfastProperties properties,
            EndpointAccessResolver access,
            ObjectProvider<PathMapper> paths,
            ObjectProvider<ConsoleEvents> events) {
        String path = PathMapper.getRootPath(paths.orderedStream().toList(), EndpointId.of("holdfastconsole"));
        return new HoldfastConsoleEndpoint(
                clients,
                () -> access.accessFor(LOCKS, Access.READ_ONLY) != Access.UNRESTRICTED,
                path.substring(path.lastIndexOf('/') + 1),
                properties.healthTasks().keySet(),
                events.getIfAvailable());
    }

    @Bean
    EndOfStreams holdfastConsoleEndOfStreams(ApplicationContext context, HoldfastConsoleEndpoint endpoint) {
        return new EndOfStreams(context, endpoint);
    }

    /** Ends the streams first when the application closes: a web server stops only after its requests have ended. */
    record EndOfStreams(ApplicationContext context, HoldfastConsoleEndpoint endpoint)
            implements ApplicationListener<ContextClosedEvent>, Ordered {

        @Override
        public void onApplicationEvent(ContextClosedEvent event) {
            if (event.getApplicationContext() == context) {
                endpoint.endStreams();
            }
        }

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    /** With Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.servlet.mvc.method.annotation.SseEmitter")
    static class Servlet {
        @Bean
        ServletConsoleEvents holdfastConsoleEvents() {
            return new ServletConsoleEvents();
        }
    }

    /** With WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(name = {"org.springframework.http.codec.ServerSentEvent", "reactor.core.publisher.Flux"})
    static class Reactive {
        @Bean
        ReactiveConsoleEvents holdfastConsoleEvents() {
            return new ReactiveConsoleEvents();
        }
    }
}
