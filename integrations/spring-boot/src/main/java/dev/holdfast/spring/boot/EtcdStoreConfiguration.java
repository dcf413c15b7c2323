package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.etcd.EtcdStore;
import dev.holdfast.store.etcd.EtcdStoreProvider;
import io.grpc.ManagedChannel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Stores on etcd: on a {@link ManagedChannel} bean, or by URI. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({EtcdStore.class, ManagedChannel.class})
class EtcdStoreConfiguration {

    @Bean
    @Lazy
    Connector holdfastEtcdConnector(
            HoldfastProperties properties, ObjectProvider<EtcdStoreBuilderCustomizer> customizers) {
        return new Connector(properties, customizers);
    }

    /** Opens stores on etcd. */
    static final class Connector implements StoreConnector<ManagedChannel>, StoreUriOpener {
        private final HoldfastProperties properties;
        private final ObjectProvider<EtcdStoreBuilderCustomizer> customizers;

        Connector(HoldfastProperties properties, ObjectProvider<EtcdStoreBuilderCustomizer> customizers) {
            this.properties = properties;
            this.customizers = customizers;
        }

        @Override
        public Class<ManagedChannel> type() {
            return ManagedChannel.class;
        }

        @Override
        public LockStore open(ManagedChannel connection) {
            return open(EtcdStore.builder(connection));
        }

        @Override
        public boolean serves(String scheme) {
            return new EtcdStoreProvider().schemes().contains(scheme);
        }

        @Override
        public LockStore open(StoreUri uri) {
            return open(EtcdStore.builder(uri));
        }

        private LockStore open(EtcdStore.Builder builder) {
            properties.refuseLaterAndBundle(
                    "etcd", "say in the URI where the certificates are, or use a ManagedChannel with them");
            builder.connectTimeout(properties.storeTimeout());
            HoldfastProperties.Etcd etcd = properties.etcd();
            if (etcd.namespace() != null) {
                builder.namespace(etcd.namespace());
            }
            if (etcd.requestTimeout() != null) {
                builder.requestTimeout(etcd.requestTimeout());
            }
            customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
            return builder.open();
        }
    }
}
