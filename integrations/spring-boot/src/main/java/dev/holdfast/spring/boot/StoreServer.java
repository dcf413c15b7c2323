package dev.holdfast.spring.boot;

import dev.holdfast.spi.StoreDescription.Scheme;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** A kind of server that runs in containers, and whose store module the application has. */
record StoreServer(Scheme scheme) {

    static Stream<StoreServer> all() {
        return StoreModules.present(ClassUtils.getDefaultClassLoader())
                .flatMap(store -> store.schemes().stream())
                .filter(scheme -> !scheme.images().isEmpty())
                .map(StoreServer::new);
    }

    int port() {
        return scheme.port().orElseThrow();
    }

    /** The details of a server in a container whose port is mapped to another one. */
    HoldfastConnectionDetails details(
            String host, int mappedPort, Map<String, ? extends @Nullable String> environment) {
        String password = environment.get(scheme.name().toUpperCase(Locale.ROOT) + "_ROOT_PASSWORD");
        return new Details(scheme.name() + "://" + host + ":" + mappedPort, password);
    }

    private record Details(String uri, @Nullable String password) implements HoldfastConnectionDetails {

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

        /** Without the password. */
        @Override
        public String toString() {
            return "Details[uri=" + uri + "]";
        }
    }
}
