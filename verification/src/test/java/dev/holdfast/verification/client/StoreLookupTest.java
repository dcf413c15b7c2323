package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The store of a URI")
class StoreLookupTest {

    private static final StoreUri SEPARATE = StoreUri.parse("separate:");

    @TempDir
    private Path directory;

    /** Found by {@link #separate()} only. */
    public static final class SeparateProvider implements StoreProvider {
        @Override
        public Set<String> schemes() {
            return Set.of("separate");
        }

        @Override
        public LockStore open(StoreUri uri) {
            throw new UnsupportedOperationException();
        }
    }

    /** A class loader that sees a further store. */
    private URLClassLoader separate() throws Exception {
        Path file = directory.resolve("META-INF/services").resolve(StoreProvider.class.getName());
        Files.createDirectories(file.getParent());
        Files.writeString(file, SeparateProvider.class.getName());
        return new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader());
    }

    private static void runIn(ClassLoader context, Runnable task) throws Exception {
        FutureTask<Void> run = new FutureTask<>(task, null);
        Thread thread = new Thread(run);
        thread.setContextClassLoader(context);
        thread.start();
        run.get();
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"memory:", "quorum:(memory:one,memory:two,memory:three)"})
    @DisplayName("is found on a thread whose context class loader sees no store, as those of the common pool may")
    void isFoundWhateverTheContext(String uri) throws Exception {
        runIn(ClassLoader.getPlatformClassLoader(), () -> Holdfast.connect(uri).close());
        runIn(null, () -> Holdfast.connect(uri).close());
    }

    @Test
    @DisplayName("is found by the context class loader, where a store is loaded separately")
    void isFoundInTheContext() throws Exception {
        try (URLClassLoader separate = separate()) {
            runIn(separate, () -> assertThat(StoreProvider.of(SEPARATE)).isInstanceOf(SeparateProvider.class));
        }
        assertThatThrownBy(() -> StoreProvider.of(SEPARATE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("supports 'separate:'; known schemes are [");
    }
}
