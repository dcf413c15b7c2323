package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** Lock stores in containers of tests. Spring Boot itself knows databases and Redis. */
final class ContainerServices extends ContainerConnectionDetailsFactory<Container<?>, HoldfastConnectionDetails> {

    /** Called by Spring Boot. */
    ContainerServices() {
        super(StoreServer.all()
                .flatMap(server -> server.scheme().images().stream())
                .toList());
    }

    @Override
    protected @Nullable HoldfastConnectionDetails getContainerConnectionDetails(
            ContainerConnectionSource<Container<?>> source) {
        return StoreServer.all()
                .filter(server -> server.scheme().images().stream()
                        .anyMatch(image -> source.accepts(image, Container.class, HoldfastConnectionDetails.class)))
                .findFirst()
                .map(server -> new Details(source, server))
                .orElse(null);
    }

    /** Reads the container's address when it is needed: by then the container has started. */
    private static final class Details extends ContainerConnectionDetails<Container<?>>
            implements HoldfastConnectionDetails {

        private final StoreServer server;

        Details(ContainerConnectionSource<Container<?>> source, StoreServer server) {
            super(source);
            this.server = server;
        }

        private HoldfastConnectionDetails current() {
            Container<?> container = getContainer();
            return server.details(container.getHost(), container.getMappedPort(server.port()), container.getEnvMap());
        }

        @Override
        public String getUri() {
            return current().getUri();
        }

        @Override
        public @Nullable String getUsername() {
            return current().getUsername();
        }

        @Override
        public @Nullable String getPassword() {
            return current().getPassword();
        }
    }
}
