package dev.holdfast.spring.boot;

import static dev.holdfast.spring.boot.Analyses.assertAnalysis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

@DisplayName("Connection details")
class ConnectionDetailsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues("holdfast.open-at-startup=true", "holdfast.store=redis://localhost:1");

    @Test
    @DisplayName("name the store instead of properties")
    void instead(@TempDir Path directory) {
        runner.withBean(HoldfastConnectionDetails.class, () -> () -> "sqlite:" + directory.resolve("locks.db"))
                .run(context ->
                        assertThat(context.getBean(Holdfast.class)).asString().contains("SQLite"));
    }

    @Test
    @DisplayName("have a user and a password, which are not shown")
    void credentials() {
        HoldfastConnectionDetails details = new HoldfastConnectionDetails() {
            @Override
            public String getUri() {
                return "postgresql://localhost:1/locks";
            }

            @Override
            public @Nullable String getUsername() {
                return "shop";
            }

            @Override
            public @Nullable String getPassword() {
                return "canary";
            }
        };
        runner.withBean(HoldfastConnectionDetails.class, () -> details)
                .withPropertyValues("holdfast.store-timeout=1s")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .noneMatch(text -> text.contains("canary"))
                        .first()
                        .asString()
                        .contains("postgresql://***@localhost:1/locks"));
    }

    @Test
    @DisplayName("are not guessed: of two of them none is taken")
    void ambiguous() {
        runner.withBean("first", HoldfastConnectionDetails.class, () -> () -> "memory:")
                .withBean("second", HoldfastConnectionDetails.class, () -> () -> "memory:")
                .run(context -> assertAnalysis(context.getStartupFailure())
                        .first()
                        .asString()
                        .contains("2 beans of type HoldfastConnectionDetails"));
    }

    @Test
    @DisplayName("are those of services of Docker Compose with etcd or ZooKeeper")
    void compose() throws Exception {
        HoldfastConnectionDetails etcd =
                of(new Service("quay.io/coreos/etcd:v3.6.5", 2379, Map.of("ETCD_ROOT_PASSWORD", "canary")));
        assertThat(etcd.getUri()).isEqualTo("etcd://127.0.0.1:12379");
        assertThat(etcd.getUsername()).isEqualTo("root");
        assertThat(etcd.getPassword()).isEqualTo("canary");
        assertThat(of(new Service("bitnami/etcd", 2379, Map.of())).getUsername())
                .isNull();
        assertThat(of(new Service("zookeeper:3.9", 2181, Map.of())).getUri()).isEqualTo("zookeeper://127.0.0.1:12181");
    }

    /** A container that needs no Docker, whose port is mapped to one that is 10,000 higher. */
    private static final class Started extends GenericContainer<Started> {

        private final String image;

        Started(String image) {
            super(DockerImageName.parse(image));
            this.image = image;
        }

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public String getDockerImageName() {
            return image;
        }

        @Override
        public String getHost() {
            return "127.0.0.1";
        }

        @Override
        public Integer getMappedPort(int originalPort) {
            return originalPort + 10_000;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EtcdContainer {

        @Bean
        @ServiceConnection("etcd")
        GenericContainer<?> locks() {
            return new Started("quay.io/coreos/etcd:v3.6.5").withEnv("ETCD_ROOT_PASSWORD", "canary");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ZooKeeperContainer {

        @Bean
        @ServiceConnection("zookeeper")
        GenericContainer<?> locks() {
            return new Started("zookeeper:3.9");
        }
    }

    @Test
    @DisplayName("are those of containers with etcd or ZooKeeper")
    void containers() {
        ApplicationContextRunner withContainers = runner.withConfiguration(
                        AutoConfigurations.of(ServiceConnectionAutoConfiguration.class))
                .withPropertyValues("holdfast.open-at-startup=false");
        withContainers.withUserConfiguration(EtcdContainer.class).run(context -> {
            HoldfastConnectionDetails etcd = context.getBean(HoldfastConnectionDetails.class);
            assertThat(etcd.getUri()).isEqualTo("etcd://127.0.0.1:12379");
            assertThat(etcd.getUsername()).isEqualTo("root");
            assertThat(etcd.getPassword()).isEqualTo("canary");
        });
        withContainers.withUserConfiguration(ZooKeeperContainer.class).run(context -> {
            HoldfastConnectionDetails zookeeper = context.getBean(HoldfastConnectionDetails.class);
            assertThat(zookeeper.getUri()).isEqualTo("zookeeper://127.0.0.1:12181");
            assertThat(zookeeper.getUsername()).isNull();
        });
    }

    private static HoldfastConnectionDetails of(RunningService service) throws Exception {
        Constructor<DockerComposeConnectionSource> constructor =
                DockerComposeConnectionSource.class.getDeclaredConstructor(RunningService.class, Environment.class);
        constructor.setAccessible(true);
        DockerComposeConnectionSource source = constructor.newInstance(service, new MockEnvironment());
        return (HoldfastConnectionDetails) new ConnectionDetailsFactories(null)
                .getConnectionDetails(source, true)
                .get(HoldfastConnectionDetails.class);
    }

    /** A service whose port is mapped to one that is 10,000 higher. */
    private record Service(String reference, int port, Map<String, String> env) implements RunningService {

        @Override
        public String name() {
            return "locks";
        }

        @Override
        public ImageReference image() {
            return ImageReference.of(reference);
        }

        @Override
        public String host() {
            return "127.0.0.1";
        }

        @Override
        public ConnectionPorts ports() {
            return new ConnectionPorts() {
                @Override
                public int get(int containerPort) {
                    assertThat(containerPort).isEqualTo(port);
                    return containerPort + 10_000;
                }

                @Override
                public List<Integer> getAll() {
                    return List.of(get(port));
                }

                @Override
                public List<Integer> getAll(@Nullable String protocol) {
                    return getAll();
                }
            };
        }

        @Override
        public Map<String, String> labels() {
            return Map.of();
        }
    }
}
