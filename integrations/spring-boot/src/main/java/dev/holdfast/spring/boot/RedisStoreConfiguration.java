package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.redis.RedisStore;
import dev.holdfast.store.redis.RedisStoreProvider;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.ssl.SslBundle;
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
    StoreUriOpener holdfastRedisUriOpener(
            HoldfastProperties properties,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<AbstractRedisClient> clients,
            ObjectProvider<ClientResources> resources,
            ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
        return new StoreUriOpener(new RedisStoreProvider().schemes(), uri -> {
            RedisStore.Builder builder = RedisStore.builder(uri);
            // The threads of the application's own client, if it has one.
            clients.ifUnique(builder::client);
            resources.ifUnique(builder::resources);
            String bundle = properties.ssl().bundle();
            if (bundle != null) {
                if (!uri.scheme().startsWith("rediss")) {
                    throw new IllegalArgumentException(
                            "the property 'holdfast.ssl.bundle' is set, but the URI doesn't use TLS; use a "
                                    + "scheme that begins with 'rediss'");
                }
                builder.tls(tls(bundles.getObject().getBundle(bundle)));
            }
            return open(builder, properties, customizers);
        });
    }

    /** Connection factories of Spring Data. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LettuceConnectionFactory.class)
    static class SpringDataConfiguration {

        @Bean
        @Lazy
        StoreConnector<LettuceConnectionFactory> holdfastLettuceConnector(
                HoldfastProperties properties, ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
            return new StoreConnector<>(
                    LettuceConnectionFactory.class,
                    factory -> RedisStoreConfiguration.open(SpringDataRedis.builder(factory), properties, customizers));
        }
    }

    private static SslOptions tls(SslBundle bundle) {
        SslOptions.Builder tls = SslOptions.builder()
                .jdkSslProvider()
                .keyManager(bundle.getManagers().getKeyManagerFactory())
                .trustManager(bundle.getManagers().getTrustManagerFactory());
        String[] ciphers = bundle.getOptions().getCiphers();
        if (ciphers != null) {
            tls.cipherSuites(ciphers);
        }
        String[] protocols = bundle.getOptions().getEnabledProtocols();
        if (protocols != null) {
            tls.protocols(protocols);
        }
        return tls.build();
    }

    /** Opens a store as properties and customizers set it up. */
    private static LockStore open(
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
