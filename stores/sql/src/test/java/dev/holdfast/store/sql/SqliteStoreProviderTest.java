package dev.holdfast.store.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
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

    @Test
    void theDefaultIsAFileOfTheUser() {
        assertThat(SqliteStoreProvider.defaultFile(Map.of(), "/home/ann", "Linux"))
                .isEqualTo(Path.of("/home/ann/.local/state/holdfast/locks.db"));
        assertThat(SqliteStoreProvider.defaultFile(Map.of("XDG_STATE_HOME", "/state"), "/home/ann", "Linux"))
                .isEqualTo(Path.of("/state/holdfast/locks.db"));
        assertThat(SqliteStoreProvider.defaultFile(Map.of("XDG_STATE_HOME", "relative"), "/home/ann", "Linux"))
                .isEqualTo(Path.of("/home/ann/.local/state/holdfast/locks.db"));
        assertThat(SqliteStoreProvider.defaultFile(Map.of(), "/Users/ann", "Mac OS X"))
                .isEqualTo(Path.of("/Users/ann/Library/Application Support/holdfast/locks.db"));
        assertThat(SqliteStoreProvider.defaultFile(Map.of("LOCALAPPDATA", "/c/local"), "/c/ann", "Windows 11"))
                .isEqualTo(Path.of("/c/local/holdfast/locks.db"));
    }

    @Test
    void theDefaultDirectoryIsMade() {
        Map<String, String> environment =
                Map.of("XDG_STATE_HOME", directory.resolve("state").toString());

        SqliteStoreProvider.builder(StoreUri.parse("sqlite:"), environment, "/", "Linux")
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
