package dev.holdfast.benchmarks.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A JVM of its own for one main class of this module, with the class path of this one; what it prints is gathered. */
public final class Jvm implements AutoCloseable {

    /** What it is started for. */
    public enum Purpose {
        MEASUREMENT,
        TRIAL;

        private List<String> options() {
            return this == MEASUREMENT
                    // All memory at once, so that no measurement contains the growing of the heap.
                    ? List.of("-Xms1g", "-Xmx1g")
                    // Quick to start, and nothing else: it shows only that all runs.
                    : List.of("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        }
    }

    /** For the processes of a cell: whoever runs the cell sees to it that it comes to an end, and they with it. */
    static final Duration UNTIL_THE_CELL_ENDS = Duration.ofHours(1);

    private final Process process;

    private Jvm(Process process) {
        this.process = process;
    }

    /** Starts it on the JDK that runs this. */
    public static Jvm start(Purpose purpose, Class<?> main, List<String> arguments) throws IOException {
        return start(Path.of(System.getProperty("java.home")), purpose, main, arguments);
    }

    /** Starts it; what it prints to its standard error is shown. */
    public static Jvm start(Path javaHome, Purpose purpose, Class<?> main, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(javaHome.resolve("bin").resolve("java").toString());
        command.addAll(purpose.options());
        // SQLite is native code.
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(main.getName());
        command.addAll(arguments);
        return new Jvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /**
     * Waits for its end, and ends it if that takes longer than so much.
     *
     * @return the lines that it printed
     * @throws IllegalStateException if it failed
     */
    public List<String> lines(Duration most) throws IOException, InterruptedException {
        AtomicBoolean isLate = new AtomicBoolean();
        CompletableFuture<Void> deadline = CompletableFuture.runAsync(
                () -> {
                    isLate.set(true);
                    close();
                },
                CompletableFuture.delayedExecutor(most.toMillis(), TimeUnit.MILLISECONDS));
        List<String> lines;
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            lines = reader.lines().toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            deadline.cancel(false);
        }
        int exit = process.waitFor();
        if (exit != 0) {
            throw new IllegalStateException(
                    isLate.get()
                            ? "no end within " + most.toSeconds() + " s"
                            : "a JVM of the measurement ended with exit code " + exit);
        }
        return lines;
    }

    /**
     * Waits for the end of a process that takes part in a cell.
     *
     * @return the sheet that it printed
     * @throws IllegalStateException if it failed
     */
    public Sheet sheet() throws IOException, InterruptedException {
        return sheet(UNTIL_THE_CELL_ENDS);
    }

    /**
     * Waits for the end of a cell, and ends it if that takes longer than so much.
     *
     * @return the sheet that it printed
     * @throws IllegalStateException if it failed
     */
    public Sheet sheet(Duration most) throws IOException, InterruptedException {
        Sheet sheet = new Sheet();
        sheet.read(lines(most));
        return sheet;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Ends it and those that it started, if they have not ended. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
