package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A wait counts from the first attempt to connect, and ends in time when nothing answers. */
@Tag("process")
@Tag("server")
class StoppedStoreTest {

    /** Far above the wait, for a machine that is busy, and far below the time-outs of the stores here. */
    private static final Duration AT_MOST = Duration.ofSeconds(40);

    @TempDir
    Path directory;

    @Test
    void waitForAStoppedRedisServerEndsInTime() {
        try (RedisServer server = RedisServer.start()) {
            server.process().pause();
            try {
                endsInTime("redis://127.0.0.1:" + server.port() + "?connectTimeout=PT2M&timeout=PT2M");
            } finally {
                server.process().resume();
            }
        }
    }

    @Test
    void waitForADatabaseThatTakesConnectionsAndSaysNothingEndsInTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            endsInTime("postgresql://nobody@127.0.0.1:" + silent.getLocalPort() + "/none?sslmode=disable&timeout=PT2M");
        }
    }

    private void endsInTime(String store) {
        long start = System.nanoTime();
        try (CliProcess run = new Place(directory, Map.of())
                .run("run", "x", "--store", store, "--wait", "2s", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_MOST);
            assertThat(run.err()).contains("can't be reached").contains("within PT2");
        }
        assertThat(directory.resolve("ran")).doesNotExist();
    }
}
