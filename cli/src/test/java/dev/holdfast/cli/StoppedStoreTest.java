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

/** Commands end within the time-out of the store when it does not answer, however long they may wait for others. */
@Tag("process")
@Tag("server")
class StoppedStoreTest {

    /** Far above the time-out of the command, for a machine that is busy, and far below those in the URIs here. */
    private static final Duration AT_MOST = Duration.ofSeconds(40);

    @TempDir
    Path directory;

    @Test
    void runOnAStoppedRedisServerEndsInTime() {
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
    void runOnADatabaseThatTakesConnectionsAndSaysNothingEndsInTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            endsInTime("postgresql://nobody@127.0.0.1:" + silent.getLocalPort() + "/none?sslmode=disable&timeout=PT2M");
        }
    }

    /** Longer than it takes to give up the first state that a page would show. */
    @Test
    void topWithoutATerminalDoesNotTakeSilenceForAnEmptyStore() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                CliProcess top = new Place(directory, Map.of("HOLDFAST_STORE_TIMEOUT", "5s"))
                        .run("top", "--store", "redis://127.0.0.1:" + silent.getLocalPort())) {
            assertThat(top.exitCode()).as(top.err()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(top.out()).contains("NO ANSWER");
        }
    }

    private void endsInTime(String store) {
        long start = System.nanoTime();
        try (CliProcess run = new Place(directory, Map.of("HOLDFAST_STORE_TIMEOUT", "2s"))
                .run("run", "x", "--store", store, "--wait", "1h", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_MOST);
            assertThat(run.err()).contains("can't be reached").contains("within 2 s");
        }
        assertThat(directory.resolve("ran")).doesNotExist();
    }
}
