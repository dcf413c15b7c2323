package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;

/** Lock stores among the services of Docker Compose. Spring Boot knows those on databases and Redis. */
final class ComposeServices {

    private ComposeServices() {}

    /** Where a service is, by the first of its ports that is mapped. */
    private static String uri(String scheme, RunningService service, int port) {
        return scheme + "://" + service.host() + ":" + service.ports().get(port);
    }

    /** Services with an image of etcd. Made by Spring Boot. */
    static final class Etcd extends DockerComposeConnectionDetailsFactory<HoldfastConnectionDetails> {

        static final String[] IMAGES = {"etcd", "bitnami/etcd", "coreos/etcd", "etcd-development/etcd"};

        Etcd() {
            super(IMAGES, "dev.holdfast.store.etcd.EtcdStore");
        }

        @Override
        protected HoldfastConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
            RunningService service = source.getRunningService();
            String uri = uri("etcd", service, 2379);
            String password = service.env().get("ETCD_ROOT_PASSWORD");
            return new HoldfastConnectionDetails() {
                @Override
                public String getUri() {
                    return uri;
                }

                @Override
                public @Nullable String getUsername() {
                    return password == null ? null : "root";
                }

                @Override
                public @Nullable String getPassword() {
                    return password;
                }
            };
        }
    }

    /** Services with an image of ZooKeeper. Made by Spring Boot. */
    static final class ZooKeeper extends DockerComposeConnectionDetailsFactory<HoldfastConnectionDetails> {

        static final String[] IMAGES = {"zookeeper", "bitnami/zookeeper"};

        ZooKeeper() {
            super(IMAGES, "dev.holdfast.store.zookeeper.ZooKeeperStore");
        }

        @Override
        protected HoldfastConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
            String uri = uri("zookeeper", source.getRunningService(), 2181);
            return () -> uri;
        }
    }
}
