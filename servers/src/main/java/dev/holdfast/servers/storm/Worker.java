package dev.holdfast.servers.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A test's hand on a {@link WorkerMain}. */
public final class Worker implements AutoCloseable {

    private final Process process;
    private final PrintStream in;
    private final BufferedReader out;

    /**
     * Starts it, and returns without waiting for it.
     *
     * @param uri of the store
     * @param ttl of the sessions
     * @param interruptEvery after how long, at most, it interrupts another of its threads; zero for never
     * @param clients how many it has
     * @param names of locks: each client has a thread for each
     */
    public Worker(String uri, Duration ttl, Resource resource, Duration interruptEvery, int clients, List<String> names)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                WorkerMain.class.getName(),
                uri,
                ttl.toString(),
                String.valueOf(resource.port()),
                interruptEvery.toString(),
                String.valueOf(clients)));
        command.addAll(names);
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Waits until it works. */
    public void awaitStart() throws IOException {
        assertThat(out.readLine()).isEqualTo("working");
    }

    /** Has it end in order; what it says at last. */
    public String end() throws IOException, InterruptedException {
        in.println("ended");
        String last = out.readLine();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return String.valueOf(last);
    }

    public long pid() {
        return process.pid();
    }

    /** Whether it runs; one that fails does not. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns when it does nothing any more. */
    public void pause() {
        Signals.pause(process.toHandle());
    }

    public void resume() {
        Signals.resume(process.toHandle());
    }

    /** As kill -9. */
    public void kill() {
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
