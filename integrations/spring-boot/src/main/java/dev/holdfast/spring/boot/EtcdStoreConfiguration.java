package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
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
    StoreConnector<ManagedChannel> holdfastEtcdConnector(
            HoldfastProperties properties, ObjectProvider<EtcdStoreBuilderCustomizer> customizers) {
        return new StoreConnector<>(
                ManagedChannel.class, channel -> open(EtcdStore.builder(channel), properties, customizers));
    }

    @Bean
    @Lazy
    StoreUriOpener holdfastEtcdUriOpener(
            HoldfastProperties properties, ObjectProvider<EtcdStoreBuilderCustomizer> customizers) {
        return new StoreUriOpener(
                new EtcdStoreProvider().schemes(), uri -> open(EtcdStore.builder(uri), properties, customizers));
    }

    private static LockStore open(
            EtcdStore.Builder builder,
            HoldfastProperties properties,
            ObjectProvider<EtcdStoreBuilderCustomizer> customizers) {
        properties.refuseLaterAndBundle(
                "etcd", "name the certificate files in the URI, or use a ManagedChannel that has them");
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
