package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A test's hand on a {@link WorkerMain}. */
final class Worker implements AutoCloseable {

    private final Process process;
    private final PrintStream in;
    private final BufferedReader out;

    /** Starts it, and returns without waiting for it. */
    Worker(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                WorkerMain.class.getName()));
        command.addAll(List.of(arguments));
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Waits until it works. */
    void awaitStart() throws IOException {
        assertThat(out.readLine()).isEqualTo("working");
    }

    /** Has it end in order; what it says at last. */
    String end() throws IOException, InterruptedException {
        in.println("ended");
        String last = out.readLine();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return String.valueOf(last);
    }

    long pid() {
        return process.pid();
    }

    /** Returns when it does nothing any more. */
    void pause() {
        Signals.pause(process.toHandle());
    }

    void resume() {
        Signals.resume(process.toHandle());
    }

    /** As kill -9. */
    void kill() {
        process.destroyForcibly();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
