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

/** A JVM that runs one main class of this module, with the class path of this one; its output is collected. */
public final class Jvm implements AutoCloseable {

    /** Why it is started. */
    public enum Purpose {
        MEASUREMENT,
        TRIAL;

        private List<String> options() {
            return this == MEASUREMENT
                    // The whole heap at once, so that no measurement includes its growth.
                    ? List.of("-Xms1g", "-Xmx1g")
                    // Quick to start: a trial shows only that everything runs.
                    : List.of("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        }
    }

    /** For the processes of a cell: the driver ends the cell earlier, and its processes with it. */
    static final Duration UNTIL_THE_CELL_ENDS = Duration.ofHours(1);

    private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

    /** Runs a cell, or a part of one, of a workload; by name, since it knows them all. */
    private static final String CELL_MAIN = "dev.holdfast.benchmarks.CellMain";

    private final Process process;

    private Jvm(Process process) {
        this.process = process;
    }

    /** Starts it on the JDK that runs this. */
    public static Jvm start(Purpose purpose, Class<?> main, List<String> arguments) throws IOException {
        return start(purpose, List.of(), main, arguments);
    }

    /** As {@link #start(Purpose, Class, List)}, with a command that starts it, such as {@code taskset}. */
    public static Jvm start(Purpose purpose, List<String> prefix, Class<?> main, List<String> arguments)
            throws IOException {
        return start(JAVA_HOME, purpose, prefix, main.getName(), arguments);
    }

    /** Starts the JVM of a cell. */
    public static Jvm ofCell(Path javaHome, String workload, String cell, Bench bench) throws IOException {
        return ofCell(javaHome, List.of(), workload, cell, bench);
    }

    /** Starts the JVM of a part of a cell, on the JDK of the cell, with a command before it. */
    public static Jvm ofPart(List<String> prefix, String workload, String part, Bench bench) throws IOException {
        return ofCell(JAVA_HOME, prefix, workload, part, bench);
    }

    private static Jvm ofCell(Path javaHome, List<String> prefix, String workload, String cell, Bench bench)
            throws IOException {
        return start(
                javaHome,
                bench.isTrial() ? Purpose.TRIAL : Purpose.MEASUREMENT,
                prefix,
                CELL_MAIN,
                List.of(
                        workload,
                        cell,
                        bench.place().toString(),
                        Long.toString(bench.begin()),
                        bench.time().toString(),
                        Double.toString(bench.scale())));
    }

    /** Starts it; its standard error is shown. */
    private static Jvm start(Path javaHome, Purpose purpose, List<String> prefix, String main, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(javaHome.resolve("bin").resolve("java").toString());
        command.addAll(purpose.options());
        // SQLite is native code.
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        command.addAll(arguments);
        return new Jvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /**
     * Waits for its end, and destroys it after a time-out.
     *
     * @return the lines that it printed
     * @throws IllegalStateException if it failed
     */
    public List<String> lines(Duration timeout) throws IOException, InterruptedException {
        AtomicBoolean isLate = new AtomicBoolean();
        CompletableFuture<Void> deadline = CompletableFuture.runAsync(
                () -> {
                    isLate.set(true);
                    close();
                },
                CompletableFuture.delayedExecutor(timeout.toMillis(), TimeUnit.MILLISECONDS));
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
                            ? "no end within " + timeout.toSeconds() + " s"
                            : "a JVM of the measurement ended with exit code " + exit);
        }
        return lines;
    }

    /** The measurements of a process that takes part in a cell, once it has ended. */
    public Measurements measurements() throws IOException, InterruptedException {
        return measurements(UNTIL_THE_CELL_ENDS);
    }

    /** As {@link #lines}, for a process that prints measurements. */
    public Measurements measurements(Duration timeout) throws IOException, InterruptedException {
        Measurements measurements = new Measurements();
        measurements.read(lines(timeout));
        return measurements;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Destroys it and the processes that it started. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
