package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.resource.ClientResources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Stores on Redis: by URI, or on a connection factory of Spring Data. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({RedisStore.class, AbstractRedisClient.class})
class RedisStoreConfiguration {

    @Bean
    @Lazy
    RedisUriOpener holdfastRedisUriOpener(
            HoldfastProperties properties,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<AbstractRedisClient> clients,
            ObjectProvider<ClientResources> resources,
            ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
        return new RedisUriOpener(properties, bundles, clients, resources, customizers);
    }

    /** Connection factories of Spring Data. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LettuceConnectionFactory.class)
    static class SpringDataConfiguration {

        @Bean
        @Lazy
        LettuceConnector holdfastLettuceConnector(
                HoldfastProperties properties, ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
            return new LettuceConnector(properties, customizers);
        }
    }

    /** Opens a store with what properties and customizers say of it. */
    static LockStore open(
            RedisStore.Builder builder,
            HoldfastProperties properties,
            ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
        builder.connectTimeout(properties.storeTimeout());
        HoldfastProperties.Redis redis = properties.redis();
        if (redis.namespace() != null) {
            builder.namespace(redis.namespace());
        }
        if (redis.commandTimeout() != null) {
            builder.commandTimeout(redis.commandTimeout());
        }
        if (redis.waitForReplicas() != null) {
            builder.waitForReplicas(redis.waitForReplicas(), redis.replicaTimeout());
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return properties.startsWithoutStore() ? builder.openLater() : builder.open();
    }
}
