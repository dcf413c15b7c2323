package dev.holdfast.spring.boot;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;

/** Lock stores among the services of Docker Compose. Spring Boot itself knows databases and Redis. */
final class ComposeServices extends DockerComposeConnectionDetailsFactory<HoldfastConnectionDetails> {

    /** Names the image that a service stands for, if its own has another name. */
    private static final String LABEL = "org.springframework.boot.service-connection";

    /** Called by Spring Boot. */
    ComposeServices() {
        super(source -> server(source.getRunningService()).isPresent());
    }

    @Override
    protected @Nullable HoldfastConnectionDetails getDockerComposeConnectionDetails(
            DockerComposeConnectionSource source) {
        RunningService service = source.getRunningService();
        return server(service)
                .map(server -> server.details(service.host(), service.ports().get(server.port()), service.env()))
                .orElse(null);
    }

    private static Optional<StoreServer> server(RunningService service) {
        String label = service.labels().get(LABEL);
        String image = label == null ? service.image().getName() : nameOf(label);
        return StoreServer.all()
                .filter(server -> server.scheme().images().stream()
                        .anyMatch(known -> nameOf(known).equals(image)))
                .findFirst();
    }

    private static String nameOf(String image) {
        return ImageReference.of(image).getName();
    }
}
