package dev.holdfast.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** Lock stores in containers of tests. Spring Boot knows those on databases and Redis. */
abstract class ContainerServices extends ContainerConnectionDetailsFactory<Container<?>, HoldfastConnectionDetails> {

    private final String scheme;
    private final int port;

    private ContainerServices(String[] images, String storeClass, String scheme, int port) {
        super(List.of(images), storeClass);
        this.scheme = scheme;
        this.port = port;
    }

    @Override
    protected HoldfastConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
        return new Details(source, scheme, port);
    }

    /** Containers with an image of etcd. Made by Spring Boot. */
    static final class Etcd extends ContainerServices {

        Etcd() {
            super(ComposeServices.Etcd.IMAGES, "dev.holdfast.store.etcd.EtcdStore", "etcd", 2379);
        }
    }

    /** Containers with an image of ZooKeeper. Made by Spring Boot. */
    static final class ZooKeeper extends ContainerServices {

        ZooKeeper() {
            super(ComposeServices.ZooKeeper.IMAGES, "dev.holdfast.store.zookeeper.ZooKeeperStore", "zookeeper", 2181);
        }
    }

    /** What a container tells once it has started. */
    private static final class Details extends ContainerConnectionDetails<Container<?>>
            implements HoldfastConnectionDetails {

        private final String scheme;
        private final int port;

        Details(ContainerConnectionSource<Container<?>> source, String scheme, int port) {
            super(source);
            this.scheme = scheme;
            this.port = port;
        }

        @Override
        public String getUri() {
            return scheme + "://" + getContainer().getHost() + ":"
                    + getContainer().getMappedPort(port);
        }

        @Override
        public @Nullable String getUsername() {
            return getPassword() == null ? null : "root";
        }

        @Override
        public @Nullable String getPassword() {
            return getContainer().getEnvMap().get("ETCD_ROOT_PASSWORD");
        }
    }
}
