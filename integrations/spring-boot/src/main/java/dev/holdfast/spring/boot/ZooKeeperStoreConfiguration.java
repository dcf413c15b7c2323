package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.zookeeper.CuratorStore;
import dev.holdfast.store.zookeeper.ZooKeeperStore;
import dev.holdfast.store.zookeeper.ZooKeeperStoreProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Stores on ZooKeeper: by URI, or on a client of Curator's. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ZooKeeperStore.class)
class ZooKeeperStoreConfiguration {

    @Bean
    @Lazy
    UriOpener holdfastZooKeeperUriOpener(
            HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
        return new UriOpener(properties, customizers);
    }

    /** Clients of Curator's. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(CuratorFramework.class)
    static class CuratorConfiguration {

        @Bean
        @Lazy
        CuratorConnector holdfastCuratorConnector(
                HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
            return new CuratorConnector(properties, customizers);
        }
    }

    /** Opens stores on ensembles that URIs name. */
    static final class UriOpener implements StoreUriOpener {
        private final HoldfastProperties properties;
        private final ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers;

        UriOpener(HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
            this.properties = properties;
            this.customizers = customizers;
        }

        @Override
        public boolean serves(String scheme) {
            return new ZooKeeperStoreProvider().schemes().contains(scheme);
        }

        @Override
        public LockStore open(StoreUri uri) {
            return ZooKeeperStoreConfiguration.open(ZooKeeperStore.builder(uri), properties, customizers);
        }
    }

    /** Opens stores on the connections of Curator's clients. */
    static final class CuratorConnector implements StoreConnector<CuratorFramework> {
        private final HoldfastProperties properties;
        private final ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers;

        CuratorConnector(HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
            this.properties = properties;
            this.customizers = customizers;
        }

        @Override
        public Class<CuratorFramework> type() {
            return CuratorFramework.class;
        }

        @Override
        public LockStore open(CuratorFramework connection) {
            if (connection.getState() != CuratorFrameworkState.STARTED) {
                throw new IllegalArgumentException("it is " + connection.getState()
                        + ", and has to be started before locks are asked for, as by initMethod = \"start\"");
            }
            return ZooKeeperStoreConfiguration.open(CuratorStore.builder(connection), properties, customizers);
        }
    }

    /** Opens a store with what properties and customizers say of it. */
    static LockStore open(
            ZooKeeperStore.Builder builder,
            HoldfastProperties properties,
            ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
        properties.refuseLaterAndBundle("ZooKeeper", "set up TLS by properties of ZooKeeper's client");
        builder.connectTimeout(properties.storeTimeout());
        HoldfastProperties.Zookeeper zookeeper = properties.zookeeper();
        if (zookeeper.root() != null) {
            builder.root(zookeeper.root());
        }
        if (zookeeper.requestTimeout() != null) {
            builder.requestTimeout(zookeeper.requestTimeout());
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        return builder.open();
    }
}
