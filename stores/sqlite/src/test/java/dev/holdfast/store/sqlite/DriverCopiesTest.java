package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.store.ledger.StoreClock;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteConfig;

@DisplayName("Two copies of SQLite in one JVM")
class DriverCopiesTest {

    @TempDir
    private Path directory;

    /** Another application in this JVM, with its own copy of all classes except logging. */
    private static URLClassLoader application() {
        URL[] jars = Stream.of(
                        Holdfast.class, SqliteStore.class, StoreClock.class, SQLiteConfig.class, NullMarked.class)
                .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
                .toArray(URL[]::new);
        ClassLoader log = new ClassLoader(ClassLoader.getPlatformClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (name.startsWith("org.slf4j.")) {
                    return Class.forName(name);
                }
                throw new ClassNotFoundException(name);
            }
        };
        return new URLClassLoader(jars, log);
    }

    /** A client of another application. */
    private static AutoCloseable connect(ClassLoader application, String uri) throws Exception {
        try {
            return (AutoCloseable) application
                    .loadClass(Holdfast.class.getName())
                    .getMethod("connect", String.class)
                    .invoke(null, uri);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception failure ? failure : e;
        }
    }

    @Test
    @DisplayName("never have the same file open: the second is refused, and the file stays as it was")
    void secondIsRefused() throws Exception {
        Path file = directory.resolve("locks.db");
        String uri = "sqlite:" + file;
        try (URLClassLoader application = application()) {
            try (Holdfast client = Holdfast.connect(uri);
                    Hold hold = client.lock("nightly").acquire()) {
                assertThatThrownBy(() -> connect(application, uri))
                        .hasMessageContaining("is open in another application of this JVM")
                        .hasMessageContaining("or give each application its own file");
                assertThat(hold.isHeld()).isTrue();
                assertThat(directory.resolve("locks.db-wal")).exists();
                try (Holdfast second = Holdfast.connect(uri)) {
                    assertThat(second.lock("nightly").tryLock()).isFalse();
                }
                assertThatThrownBy(() -> connect(application, uri)).hasMessageContaining("is open in another");
                try (AutoCloseable other = connect(application, "sqlite:" + directory.resolve("other.db"))) {
                    assertThat(other.toString()).contains("SQLite");
                }
            }
            try (AutoCloseable other = connect(application, uri)) {
                assertThat(other.toString()).contains("SQLite");
                assertThatThrownBy(() -> Holdfast.connect(uri)).hasMessageContaining("is open in another");
            }
        }
        try (Holdfast client = Holdfast.connect(uri)) {
            assertThat(client.lock("nightly").tryLock()).isTrue();
        }
    }

    @Test
    @DisplayName("are free to open a file that could not be opened by the other")
    void failureLeavesNothing() throws Exception {
        Path file = directory.resolve("locks.db");
        Files.writeString(file, "This is no database, though it is long enough to be one.".repeat(20));
        assertThatThrownBy(() -> Holdfast.connect("sqlite:" + file)).hasMessageContaining("is not a SQLite database");
        try (URLClassLoader application = application()) {
            assertThatThrownBy(() -> connect(application, "sqlite:" + file))
                    .hasMessageContaining("is not a SQLite database");
        }
    }

    @Test
    @DisplayName("are counted: a file is free once all that had it open have closed it")
    void areCounted() {
        DriverCopies one = new DriverCopies("one");
        DriverCopies other = new DriverCopies("other");
        String file = directory.toString();
        assertThat(one.enter(file)).isTrue();
        assertThat(one.enter(file)).isTrue();
        one.leave(file);
        assertThat(other.enter(file)).isFalse();
        other.leave(file);
        assertThat(other.enter(file)).isFalse();
        one.leave(file);
        assertThat(other.enter(file)).isTrue();
        other.leave(file);
        assertThat(System.getProperties().keySet().toString()).doesNotContain(file);
    }
}
