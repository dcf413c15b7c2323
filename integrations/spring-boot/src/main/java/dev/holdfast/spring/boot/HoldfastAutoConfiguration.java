package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.spi.LockStore;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of a {@link LockStore} and a {@link Holdfast}. Both are lazy: without a locked method or another
 * use of them, neither is created, and there is no connection to the store.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.JndiDataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration",
        })
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@EnableConfigurationProperties(HoldfastProperties.class)
@Import({
    JdbcStoreConfiguration.class,
    RedisStoreConfiguration.class,
    EtcdStoreConfiguration.class,
    ZooKeeperStoreConfiguration.class,
    LockedConfiguration.class
})
@ImportRuntimeHints(HoldfastRuntimeHints.class)
// Only Spring uses what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastAutoConfiguration {

    /** Called by Spring. */
    public HoldfastAutoConfiguration() {}

    @Bean
    @ConfigurationPropertiesBinding
    static AnnotationDuration.Reader holdfastDurationReader() {
        return new AnnotationDuration.Reader();
    }

    @Bean
    HoldfastClients holdfastClients(ConfigurableListableBeanFactory beans) {
        return new HoldfastClients(beans);
    }

    @Bean
    HoldfastLifecycle holdfastLifecycle(
            ConfigurableApplicationContext context, HoldfastClients clients, HoldfastProperties properties) {
        return new HoldfastLifecycle(
                context, clients, properties.shutdownPhase(), Boolean.TRUE.equals(properties.openAtStartup()));
    }

    @Bean
    @ConditionalOnMissingBean
    HoldfastBuilderConfigurer holdfastBuilderConfigurer(
            HoldfastProperties properties,
            Environment environment,
            HoldfastClients clients,
            ObjectProvider<HoldfastListener> listeners,
            ObjectProvider<ClientListeners> clientListeners,
            ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        String program = environment.getProperty("spring.application.name", "");
        return new HoldfastBuilderConfigurer(properties, program, clients, listeners, clientListeners, customizers);
    }

    @Bean(destroyMethod = "close")
    @Lazy
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    LockStore holdfastLockStore(
            HoldfastClients clients,
            HoldfastProperties properties,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<HoldfastConnectionDetails> details,
            ObjectProvider<StoreUriOpener> openers,
            ObjectProvider<StoreConnector<?>> connectors) {
        return clients.make(() -> {
            StoreUriStores uris =
                    new StoreUriStores(properties, openers.orderedStream().toList());
            StoreBeans candidates =
                    new StoreBeans(beans, connectors.orderedStream().toList());
            List<HoldfastConnectionDetails> places = details.orderedStream().toList();
            if (places.size() > 1) {
                throw new HoldfastConfigurationException(
                        "There are " + places.size()
                                + " beans of type HoldfastConnectionDetails, so the lock store is ambiguous.",
                        "Keep only one. The label 'org.springframework.boot.ignore' excludes a "
                                + "Docker Compose service.");
            } else if (!places.isEmpty()) {
                HoldfastConnectionDetails place = places.get(0);
                return uris.open(place.getUri(), place.getUsername(), place.getPassword());
            }
            String store = properties.store();
            if (store == null) {
                return candidates.open();
            } else if (store.startsWith(StoreBeans.SCHEME)) {
                return candidates.open(store.substring(StoreBeans.SCHEME.length()));
            }
            return uris.open(store, properties.username(), properties.password());
        });
    }

    @Bean(destroyMethod = "close")
    @Lazy
    @ConditionalOnMissingBean
    Holdfast holdfast(HoldfastClients clients, LockStore store, HoldfastBuilderConfigurer configurer) {
        return clients.make(() -> {
            try {
                return configurer.configure(Holdfast.builder(store)).build();
            } catch (IllegalArgumentException e) {
                throw new HoldfastConfigurationException(
                        "The lock client can't be configured: " + e.getMessage(),
                        "Correct the properties under 'holdfast'.",
                        e);
            }
        });
    }
}
