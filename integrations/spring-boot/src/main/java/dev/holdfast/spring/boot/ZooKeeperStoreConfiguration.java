package dev.holdfast.spring.boot;

import dev.holdfast.spi.LockStore;
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

/** Stores on ZooKeeper: by URI, or on a Curator client. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ZooKeeperStore.class)
class ZooKeeperStoreConfiguration {

    @Bean
    @Lazy
    StoreUriOpener holdfastZooKeeperUriOpener(
            HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
        return new StoreUriOpener(
                new ZooKeeperStoreProvider().schemes(),
                uri -> open(ZooKeeperStore.builder(uri), properties, customizers));
    }

    /** Apart, since an application may have ZooKeeper's client without Curator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(CuratorFramework.class)
    static class CuratorConfiguration {

        @Bean
        @Lazy
        StoreConnector<CuratorFramework> holdfastCuratorConnector(
                HoldfastProperties properties, ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
            return new StoreConnector<>(
                    CuratorFramework.class,
                    curator -> ZooKeeperStoreConfiguration.open(builder(curator), properties, customizers));
        }

        private static ZooKeeperStore.Builder builder(CuratorFramework curator) {
            if (curator.getState() != CuratorFrameworkState.STARTED) {
                throw new IllegalArgumentException("it is " + curator.getState()
                        + ", but must be started before locks are used, for example with initMethod = \"start\"");
            }
            return CuratorStore.builder(curator);
        }
    }

    /** Opens a store as properties and customizers set it up. */
    private static LockStore open(
            ZooKeeperStore.Builder builder,
            HoldfastProperties properties,
            ObjectProvider<ZooKeeperStoreBuilderCustomizer> customizers) {
        properties.refuseLaterAndBundle("ZooKeeper", "configure TLS with the properties of ZooKeeper's client");
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
