package dev.holdfast.cli.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.cli.console.CliException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreLocationTest {

    @Test
    void theOptionGoesBeforeTheEnvironmentBeforeTheDefault() {
        Map<String, String> environment = Map.of("HOLDFAST_STORE", "memory:");
        assertThat(StoreLocation.of("sqlite:/a", environment).text()).isEqualTo("sqlite:/a");
        assertThat(StoreLocation.of(null, environment).text()).isEqualTo("memory:");
        assertThat(StoreLocation.of(null, Map.of("HOLDFAST_STORE", "")).isDefault())
                .isTrue();
        assertThat(StoreLocation.of(null, Map.of()).text()).isEqualTo("sqlite:");
    }

    @Test
    void theTimeoutIsADurationOfTheEnvironment() {
        assertThat(timeout("")).isEqualTo(Duration.ofSeconds(10));
        assertThat(timeout("1m30s")).isEqualTo(Duration.ofSeconds(90));
        assertThatThrownBy(() -> timeout("soon")).hasMessageStartingWith("$HOLDFAST_STORE_TIMEOUT takes a duration");
        assertThatThrownBy(() -> timeout("0")).hasMessage("$HOLDFAST_STORE_TIMEOUT must be longer than zero");
    }

    private static Duration timeout(String text) {
        return StoreLocation.of(null, Map.of("HOLDFAST_STORE_TIMEOUT", text)).timeout();
    }

    @Test
    void aCommandSeesTheStoreButNoPassword() {
        assertThat(shown("redis://ann:s3cret@h:1/2")).isEqualTo("redis://***@h:1/2");
        assertThat(shown("postgresql://h/db?user=ann&password=s3cret")).doesNotContain("s3cret");
        assertThat(shown("sqlite:/var/lib/my locks.db")).isEqualTo("sqlite:/var/lib/my locks.db");
        assertThat(shown("sqlite:/home/ann@work/a?synchronous=normal"))
                .isEqualTo("sqlite:/home/ann@work/a?synchronous=normal");
        assertThat(shown("redis://h:1/2?timeout=5s")).isEqualTo("redis://h:1/2?timeout=5s");
    }

    @Test
    void aStoreThatNobodyNamedStaysUnnamed() {
        Map<String, String> child = new HashMap<>();
        StoreLocation.of(null, Map.of()).showTo(child);
        assertThat(child).isEmpty();
    }

    @Test
    void whoBecameAnotherUserIsToldOfTheOtherDefaultFile(@TempDir Path homes) throws IOException {
        Map<String, String> sudo = Map.of("SUDO_USER", "ann");
        StoreLocation unnamed = StoreLocation.of(null, sudo);
        assertThat(unnamed.otherUsersDefault(sudo, homes)).as("no file yet").isEmpty();

        Path file = homes.resolve("ann/.local/state/holdfast/locks.db");
        Files.createDirectories(file.getParent());
        Files.createFile(file);
        assertThat(unnamed.otherUsersDefault(sudo, homes))
                .hasValueSatisfying(hint -> assertThat(hint).contains(file.toString(), "/etc/holdfast/config"));
        assertThat(unnamed.otherUsersDefault(Map.of(), homes)).isEmpty();
        assertThat(unnamed.otherUsersDefault(Map.of("SUDO_USER", "../homes/ann"), homes))
                .isEmpty();
        assertThat(StoreLocation.of("sqlite:/a", sudo).otherUsersDefault(sudo, homes))
                .isEmpty();
    }

    /** A nested run that silently used another store would exclude no one. */
    @Test
    void aStoreWithoutItsCredentialsIsRefused() {
        assertThatThrownBy(() -> StoreLocation.of(null, Map.of("HOLDFAST_STORE", shown("redis://ann:s3cret@h:1/2"))))
                .isInstanceOf(CliException.class)
                .hasMessageContaining("has no credentials");
    }

    @Test
    void whatIsNoUriIsAUsageError() {
        assertThatThrownBy(() -> StoreLocation.of("locks.db", Map.of()))
                .isInstanceOf(CliException.class)
                .extracting(e -> ((CliException) e).exitCode())
                .isEqualTo(64);
        assertThatThrownBy(() -> StoreLocation.of("\u001b[2J", Map.of())).hasMessageContaining("\\u001b[2J");
    }

    private static String shown(String store) {
        Map<String, String> child = new HashMap<>(Map.of("HOLDFAST_STORE", "redis://other:pass@h"));
        StoreLocation.of(store, Map.of()).showTo(child);
        return child.get("HOLDFAST_STORE");
    }
}
