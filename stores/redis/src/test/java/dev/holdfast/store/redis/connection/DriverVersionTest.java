package dev.holdfast.store.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreException;
import io.lettuce.core.RedisClient;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverVersionTest {

    @ParameterizedTest
    @CsvSource({
        "6.1.10.RELEASE, 4.1.82.Final",
        "6.3.2.RELEASE, 4.1.107.Final",
        "7.0.0.RELEASE, 4.1.118.Final",
        "7.7.0.RELEASE, 4.1.118.Final",
    })
    void oneThatDoesNotWorkIsNamedWithWhatIsNeeded(String lettuce, String netty) {
        assertThatThrownBy(() -> DriverVersion.require(lettuce, netty))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.DENIED))
                .hasMessageContaining("Lettuce " + lettuce + " with Netty " + netty)
                .hasMessageContaining("needs Lettuce 6.4 or newer");
    }

    @ParameterizedTest
    @CsvSource({
        "6.4.0.RELEASE, 4.1.107.Final",
        "6.8.1.RELEASE, 4.2.7.Final",
        "7.5.2.RELEASE, 4.2.13.Final",
        "10.0.0, 5.0.0",
        "of an unknown version, of an unknown version",
    })
    void othersAreTried(String lettuce, String netty) {
        assertThatCode(() -> DriverVersion.require(lettuce, netty)).doesNotThrowAnyException();
    }

    /** As happens on a thread of the driver, whose connection then fails. */
    @Test
    void aMissingClassIsNoServerThatCanNotBeReached() {
        StoreException message = RedisFailures.ofOpening(
                new IllegalStateException(new NoClassDefFoundError("io/netty/channel/IoHandlerFactory")), "redis");
        assertThat(message.reason()).isEqualTo(StoreException.Reason.DENIED);
        assertThat(message)
                .hasMessageContaining("Lettuce " + DriverVersion.lettuce() + " with Netty " + DriverVersion.netty())
                .hasMessageContaining("IoHandlerFactory");
    }

    /** A jar with all that a program needs says of each package what it says of the program. */
    @Test
    void theVersionOfAProgramIsNotThatOfTheDriverInItsJar(@TempDir Path directory) throws Exception {
        Path jar = directory.resolve("shop.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_TITLE, "Shop");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, "0.1.0");
        try (JarFile driver = new JarFile(Path.of(place(RedisClient.class)).toFile());
                JarOutputStream merged = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            for (JarEntry entry : Collections.list(driver.entries())) {
                if (entry.getName().startsWith("io/lettuce/")) {
                    merged.putNextEntry(new JarEntry(entry.getName()));
                    merged.write(driver.getInputStream(entry).readAllBytes());
                }
            }
        }
        URL[] places = {jar.toUri().toURL(), place(DriverVersion.class).toURL()};
        try (URLClassLoader program = new OwnFirst(places)) {
            Class<?> version = program.loadClass(DriverVersion.class.getName());
            assertThat(version).isNotSameAs(DriverVersion.class);
            assertThat(version.getMethod("lettuce").invoke(null)).isEqualTo("of an unknown version");
            assertThatCode(() -> version.getMethod("require").invoke(null)).doesNotThrowAnyException();
        }
    }

    private static URI place(Class<?> type) throws URISyntaxException {
        return type.getProtectionDomain().getCodeSource().getLocation().toURI();
    }

    /** Has the driver and this package itself, and the rest from the tests. */
    private static final class OwnFirst extends URLClassLoader {

        OwnFirst(URL[] places) {
            super(places, DriverVersionTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            boolean isOwn = name.startsWith("io.lettuce.") || name.startsWith(DriverVersion.class.getPackageName());
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = isOwn ? findLoadedClass(name) : super.loadClass(name, resolve);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }

    /** The build runs some tests again with other versions of the driver; these are what is tested then. */
    @Test
    @Tag("driver")
    void theVersionIsThatOfThisRun() {
        assertThat(DriverVersion.lettuce()).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(DriverVersion.netty()).matches("4\\.\\d+\\.\\d+.*");
        String wanted = System.getProperty("holdfast.tests.lettuce", DriverVersion.lettuce());
        assertThat(DriverVersion.lettuce()).isEqualTo(wanted);
    }
}
