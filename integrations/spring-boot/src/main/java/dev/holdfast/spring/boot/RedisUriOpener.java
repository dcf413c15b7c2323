package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.redis.RedisStore;
import dev.holdfast.store.redis.RedisStoreProvider;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** Opens stores on Redis by URI, with the threads of the application's Lettuce client if it has one. */
final class RedisUriOpener implements StoreUriOpener {

    private final HoldfastProperties properties;
    private final ObjectProvider<SslBundles> bundles;
    private final ObjectProvider<AbstractRedisClient> clients;
    private final ObjectProvider<ClientResources> resources;
    private final ObjectProvider<RedisStoreBuilderCustomizer> customizers;

    RedisUriOpener(
            HoldfastProperties properties,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<AbstractRedisClient> clients,
            ObjectProvider<ClientResources> resources,
            ObjectProvider<RedisStoreBuilderCustomizer> customizers) {
        this.properties = properties;
        this.bundles = bundles;
        this.clients = clients;
        this.resources = resources;
        this.customizers = customizers;
    }

    @Override
    public boolean serves(String scheme) {
        return new RedisStoreProvider().schemes().contains(scheme);
    }

    @Override
    public LockStore open(StoreUri uri) {
        RedisStore.Builder builder = RedisStore.builder(uri);
        clients.ifUnique(builder::client);
        resources.ifUnique(builder::resources);
        String bundle = properties.ssl().bundle();
        if (bundle != null) {
            if (!uri.scheme().startsWith("rediss")) {
                throw new IllegalArgumentException("the property 'holdfast.ssl.bundle' is set, and the URI asks for no"
                        + " TLS; its scheme would have to begin with 'rediss'");
            }
            builder.tls(tls(bundles.getObject().getBundle(bundle)));
        }
        return RedisStoreConfiguration.open(builder, properties, customizers);
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
}
