package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.ErrorLog;
import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Files that a person, a cleaner or a backup removes or moves while processes use them. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere processes can't be observed, or files in use not removed")
class SqliteLostFilesTest {

    private static final Duration SHORT = Duration.ofMillis(50);

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("locks.db");
    }

    private Path beside(String suffix) {
        return directory.resolve("locks.db" + suffix);
    }

    private static void refuses(Path file, String... words) {
        assertThatThrownBy(() -> SqliteStore.builder(file).busyTimeout(SHORT).open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED))
                .hasMessageContainingAll(words);
    }

    private void opens() {
        try (SqliteStore store = SqliteStore.open(file())) {
            assertThat(new TestClient(store).granted("x").tokens().first()).isPositive();
        }
    }

    /** SQLite's locks were in this file: with a new one, two processes could write at the same time. */
    @Test
    void withoutTheSharedMemoryOfThoseWhoUseItAFileIsNotOpened() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            Files.delete(beside("-shm"));

            refuses(file(), "is in use", beside("-shm") + "", "was deleted", "process " + child.pid() + " (java)");

            child.kill();
            opens();
        }
    }

    @Test
    void withoutLogAndSharedMemoryOfThoseWhoUseItAFileIsNotOpened() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            Files.delete(beside("-shm"));
            Files.delete(beside("-wal"));

            refuses(file(), "is in use", "was deleted");
        }
    }

    @Test
    void underAnotherNameAFileInUseIsNotOpened() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            Path renamed = directory.resolve("renamed.db");
            Files.move(file(), renamed);

            refuses(renamed, "is in use");
            refuses(file(), "was deleted while programs use it");
            assertThat(file()).doesNotExist();
        }
    }

    @Test
    void aFileThatWasDeletedIsNotMadeAgainWhileOthersUseIt() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            Files.delete(file());

            refuses(file(), "was deleted while programs use it", "process " + child.pid() + " (java)");
            assertThat(file()).doesNotExist();

            child.kill();
            opens();
        }
    }

    @Test
    void aFileThatWasDeletedIsNotMadeAgainByItsOwnProcess() throws Exception {
        try (SqliteStore store = SqliteStore.open(file())) {
            assertThat(new TestClient(store).granted("x").tokens().first()).isPositive();
            Files.delete(file());

            refuses(file(), "was deleted while programs use it");
        }
        opens();
    }

    /** Waiters are slower until the next keep-alive. */
    @Test
    void deletedWakeupFilesAreMadeAgain() throws Exception {
        try (SqliteStore store = SqliteStore.open(file());
                ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            TestClient client = new TestClient(store);
            handOver(client, child);
            try (Stream<Path> all = Files.walk(beside("-wake"))) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
            handOverWithoutHint(client, child);

            assertThat(child.ask("keepAlive")).isEqualTo("alive");
            handOver(client, child);

            for (Path each : entries()) {
                Files.delete(each.resolve("mail"));
            }
            handOverWithoutHint(client, child);
            assertThat(child.ask("keepAlive")).isEqualTo("alive");
            handOver(client, child);
        }
    }

    /** As in a directory of another user, where this one may not write. */
    @Test
    void whoCannotBeNotifiedPollsAndTheLogSaysSoOnce() throws Exception {
        Files.createFile(beside("-wake"));
        try (SqliteStore store = SqliteStore.open(file());
                ChildProcess child = new ChildProcess(ChildMain.class, file())) {
            TestClient client = new TestClient(store);
            client.keepAlive();
            client.keepAlive();
            handOverWithoutHint(client, child);
        }
        assertThat(ErrorLog.warnings())
                .extracting(ErrorLog.Entry::text)
                .filteredOn(text -> text.startsWith("file=" + file() + " "))
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("waiters poll instead", beside("-wake").toString());
    }

    private static void handOver(TestClient client, ChildProcess child) throws IOException {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        assertThat(child.ask("acquire x")).isEqualTo("queued");
        client.release(grant);
        assertThat(child.ask("hear")).isEqualTo("told");
        assertThat(child.ask("release")).isEqualTo("released");
    }

    private static void handOverWithoutHint(TestClient client, ChildProcess child) throws IOException {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        assertThat(child.ask("acquire x")).isEqualTo("queued");
        client.release(grant);
        assertThat(child.ask("await")).isEqualTo("granted");
        assertThat(child.ask("release")).isEqualTo("released");
    }

    private List<Path> entries() {
        try (Stream<Path> entries = Files.list(beside("-wake"))) {
            return entries.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatKilledProcessesLeaveBesideTheFileIsRemovedByTheNextOne() throws Exception {
        List<ChildProcess> children = new ArrayList<>();
        try (ChildProcess alive = new ChildProcess(ChildMain.class, file())) {
            for (int i = 0; i < 3; i++) {
                ChildProcess child = new ChildProcess(ChildMain.class, file());
                children.add(child);
                assertThat(child.ask("acquire x" + i)).isEqualTo("granted");
            }
            assertThat(entries()).hasSize(4);
            for (ChildProcess child : children) {
                child.kill();
            }

            try (SqliteStore store = SqliteStore.open(file())) {
                new TestClient(store).keepAlive();
                long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
                while (entries().size() > 2) {
                    assertThat(System.nanoTime())
                            .as("time until only the live have a directory")
                            .isLessThan(deadline);
                }
                handOver(new TestClient(store), alive);
            }
        }
    }
}
