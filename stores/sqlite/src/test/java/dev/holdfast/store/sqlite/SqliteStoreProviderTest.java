package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteStoreProviderTest {

    @TempDir
    Path directory;

    private final SqliteStoreProvider provider = new SqliteStoreProvider();

    @Test
    void isFoundByItsScheme() {
        assertThat(ServiceLoader.load(StoreProvider.class))
                .anySatisfy(found -> assertThat(found.schemes()).contains("sqlite"));
    }

    @Test
    void opensTheFileThatTheUriNames() {
        for (String slashes : new String[] {"", "//"}) {
            Path file = directory.resolve("locks" + slashes.length() + ".db");
            try (LockStore store = provider.open(StoreUri.parse("sqlite:" + slashes + file + "?synchronous=full"))) {
                assertThat(store.traits().product()).startsWith("SQLite 3.");
                assertThat(file).exists();
            }
        }
    }

    private static Path linux(Map<String, String> environment, String userHome) {
        return new DefaultFile(environment, userHome, "Linux").path();
    }

    @Test
    void theDefaultIsAFileOfTheUser() {
        assertThat(linux(Map.of(), "/home/ann")).isEqualTo(Path.of("/home/ann/.local/state/holdfast/locks.db"));
        assertThat(linux(Map.of("XDG_STATE_HOME", "/state", "HOME", "/home/bob"), "/home/ann"))
                .isEqualTo(Path.of("/state/holdfast/locks.db"));
        assertThat(linux(Map.of("XDG_STATE_HOME", "", "HOME", "/home/bob"), "/home/ann"))
                .isEqualTo(Path.of("/home/bob/.local/state/holdfast/locks.db"));
        assertThat(new DefaultFile(Map.of(), "/Users/ann", "Mac OS X").path())
                .isEqualTo(Path.of("/Users/ann/Library/Application Support/holdfast/locks.db"));
        assertThat(new DefaultFile(Map.of("LOCALAPPDATA", "/c/local"), "/c/ann", "Windows 11").path())
                .isEqualTo(Path.of("/c/local/holdfast/locks.db"));
    }

    /** As in a container whose user the system does not know. */
    @Test
    void aUserWithoutAHomeHasTheFileWhereTheEnvironmentSays() {
        assertThat(linux(Map.of("HOME", "/"), "?")).isEqualTo(Path.of("/.local/state/holdfast/locks.db"));
        assertThatThrownBy(() -> linux(Map.of(), "?"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("$HOME is not set")
                .extracting(thrown -> ((StoreException) thrown).reason())
                .isEqualTo(StoreException.Reason.DENIED);
    }

    /** Falling back to the next directory would give another file, and two locks. */
    @Test
    void aPlaceThatIsRelativeIsNoReasonToTakeTheNext() {
        for (String variable : new String[] {"XDG_STATE_HOME", "HOME"}) {
            assertThatThrownBy(() -> linux(Map.of(variable, "relative"), "/home/ann"))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("$" + variable + " is 'relative'");
        }
    }

    @Test
    void aPlaceThatCannotBeMadeIsNoReasonToTakeTheNext() throws IOException {
        Path taken = Files.writeString(directory.resolve("taken"), "a file");
        Map<String, String> environment = Map.of("XDG_STATE_HOME", taken.toString(), "HOME", directory.toString());
        assertThatThrownBy(() -> SqliteStoreProvider.builder(
                                StoreUri.parse("sqlite:"), new DefaultFile(environment, directory.toString(), "Linux"))
                        .open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(taken.toString());
        assertThat(directory).isDirectoryNotContaining(path -> path.endsWith(".local"));
    }

    @Test
    void theDefaultDirectoryIsMade() {
        Map<String, String> environment =
                Map.of("XDG_STATE_HOME", directory.resolve("state").toString());

        SqliteStoreProvider.builder(StoreUri.parse("sqlite:"), new DefaultFile(environment, "/", "Linux"))
                .open()
                .close();

        assertThat(directory.resolve("state/holdfast/locks.db")).exists();
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatThrownBy(() -> provider.open(StoreUri.parse("sqlite:" + directory + "/x.db?synchronus=full")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("synchronus")
                .hasMessageContaining("[synchronous]");
        assertThatThrownBy(() -> provider.open(StoreUri.parse("sqlite:" + directory + "/x.db?synchronous=off")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("full")
                .hasMessageContaining("off");
        assertThatThrownBy(() -> provider.open(StoreUri.parse("sqlite://host/x.db")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sqlite:///path");
        assertThat(Files.exists(directory.resolve("x.db"))).isFalse();
    }
}
