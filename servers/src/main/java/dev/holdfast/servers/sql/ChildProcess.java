package dev.holdfast.servers.sql;

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

/** A program in a separate process, which replies line by line. */
@SuppressWarnings("try") // an interrupt ends the test
public final class ChildProcess implements AutoCloseable {

    private final Process process;
    private final PrintStream in;
    private final BufferedReader out;

    public ChildProcess(Class<?> program, Path file, String... prefix) throws IOException {
        List<String> command = new ArrayList<>(List.of(prefix));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                // In separate pid namespaces both would have the pid 1, and warn of each other's file.
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName(),
                file.toString()));
        this.process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        assertThat(out.readLine()).isEqualTo("ready");
    }

    /** Sends a line without waiting for the reply. */
    public void send(String line) {
        in.println(line);
    }

    public String answer() throws IOException {
        return out.readLine();
    }

    public String ask(String line) throws IOException {
        send(line);
        return answer();
    }

    public long pid() {
        return process.pid();
    }

    /** Pauses the process; returns when no thread of it runs. */
    public void pause() {
        Signals.pause(process.toHandle());
    }

    public void resume() {
        Signals.resume(process.toHandle());
    }

    /** Kills the process, and waits until it has ended. */
    public void kill() throws InterruptedException {
        process.descendants()
                .filter(child -> child.info().command().orElse("").endsWith("java"))
                .forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public void close() throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        kill();
    }
}
