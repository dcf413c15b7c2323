package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** {@code watch}, in this process, on a store that it shares with a client. */
class ChangesTest {

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private volatile boolean isClosed;

    @Test
    void eachChangeIsALineUntilTheOutputIsClosed() throws Exception {
        try (Holdfast client = Holdfast.builder("memory:changes").label("ann").build()) {
            Hold before = client.lock("orders/1").acquire();
            CompletableFuture<Integer> exitCode = CompletableFuture.supplyAsync(() -> Main.run(
                    List.of("watch", "--store", "memory:changes", "--prefix", "orders/", "--interval", "10ms"),
                    Map.of(),
                    new Console(new PrintStream(new Lines(), true), System.err, false, false)));
            assertThat(next())
                    .startsWith("{\"time\":\"")
                    .contains("\"name\":\"orders/1\",\"state\":\"held\"", "\"owner\":\"ann\"");
            try (Hold other = client.lock("other").acquire();
                    Hold second = client.lock("orders/2").acquire()) {
                assertThat(next()).contains("\"name\":\"orders/2\",\"state\":\"held\"");
            }
            assertThat(next()).endsWith("\"name\":\"orders/2\",\"state\":\"free\"}");
            isClosed = true;
            before.close();
            assertThat(exitCode.get(60, TimeUnit.SECONDS)).isEqualTo(ExitCode.OUTPUT_FAILED);
            assertThat(lines).isEmpty();
        }
    }

    private String next() throws InterruptedException {
        String line = lines.poll(60, TimeUnit.SECONDS);
        assertThat(line).as("a line within a minute").isNotNull();
        return line;
    }

    /** Each write is a line. */
    private final class Lines extends OutputStream {

        @Override
        public void write(int b) {
            throw new AssertionError("lines are written at once");
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (isClosed) {
                throw new IOException("closed");
            }
            lines.add(new String(bytes, from, length, StandardCharsets.UTF_8).strip());
        }
    }
}
