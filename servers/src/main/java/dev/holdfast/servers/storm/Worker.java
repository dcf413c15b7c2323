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

/** A process that runs {@link WorkerMain}, as a test sees it. */
public final class Worker implements AutoCloseable {

    private final Process process;
    private final PrintStream in;
    private final BufferedReader out;

    /**
     * Starts the process, and returns without waiting for it.
     *
     * @param uri of the store
     * @param ttl of the sessions
     * @param interruptEvery the longest time after which it interrupts another of its threads; zero for never
     * @param clients how many clients it opens
     * @param names the locks: each client has a thread for each name
     */
    public Worker(String uri, Duration ttl, Witness witness, Duration interruptEvery, int clients, List<String> names)
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
                String.valueOf(witness.port()),
                interruptEvery.toString(),
                String.valueOf(clients)));
        command.addAll(names);
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Waits until its threads run. */
    public void awaitStart() throws IOException {
        assertThat(out.readLine()).isEqualTo("working");
    }

    /** Lets it close its clients and exit; returns its last line. */
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

    /** Whether it runs. A failure ends it. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Stops its threads, and returns when they have stopped. */
    public void pause() {
        Signals.pause(process.toHandle());
    }

    public void resume() {
        Signals.resume(process.toHandle());
    }

    /** Ends it as {@code kill -9} does. */
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
