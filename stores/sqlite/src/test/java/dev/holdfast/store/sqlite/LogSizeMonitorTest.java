package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LogSizeMonitorTest {

    @TempDir
    Path directory;

    @TempDir
    Path noProc;

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere the locks of a process can't be listed")
    void aProcessThatKeepsAReadTransactionOpenIsNamedUntilItEnds() throws Exception {
        Path file = directory.resolve("locks.db");
        try (SqliteStore store = SqliteStore.open(file);
                ChildProcess reader = new ChildProcess(ChildMain.class, file)) {
            SqliteFile used = SqliteFile.prepare(file, false, ProcFs.ROOT);
            LogSizeMonitor monitor = new LogSizeMonitor(used, new ProcFs(ProcFs.ROOT));
            LogSizeMonitor blind = new LogSizeMonitor(used, new ProcFs(noProc));
            TestClient client = new TestClient(store);
            grow(client, 2_000_000);
            assertThat(monitor.sample()).isEmpty();
            assertThat(reader.ask("read")).isEqualTo("reading");
            assertThat(monitor.sample()).isEmpty();

            grow(client, LogSizeMonitor.MAX_BYTES);

            assertThat(text(monitor))
                    .startsWith("file=" + file.toRealPath() + " the write-ahead log has grown to 17 MB")
                    .contains("because process " + reader.pid() + " (java) keeps a read transaction open");
            assertThat(text(blind)).contains("a process that can't be identified from here keeps");
            for (int i = 0; i < 100; i++) {
                assertThat(monitor.sample()).as("it has not doubled").isEmpty();
            }
            grow(client, 2 * LogSizeMonitor.MAX_BYTES + 100_000);
            assertThat(text(monitor)).contains("has grown to 34 MB", "process " + reader.pid());

            reader.kill();
            shrink(client);
            assertThat(text(monitor)).contains("the write-ahead log has shrunk to 4 MB");
            assertThat(monitor.sample()).isEmpty();
        }
    }

    private static String text(LogSizeMonitor monitor) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        Optional<String> text = monitor.sample();
        while (text.isEmpty()) {
            assertThat(System.nanoTime()).as("deadline of a report").isLessThan(deadline);
            text = monitor.sample();
        }
        return text.get();
    }

    private void grow(TestClient client, long bytes) throws Exception {
        while (log() < bytes) {
            pair(client);
        }
    }

    private void shrink(TestClient client) throws Exception {
        while (log() > 5_000_000) {
            pair(client);
        }
    }

    private long log() throws Exception {
        return Files.size(directory.resolve("locks.db-wal"));
    }

    private static void pair(TestClient client) {
        ClaimRef claim = client.ref("x");
        client.acquire(claim);
        client.release(claim);
    }
}
