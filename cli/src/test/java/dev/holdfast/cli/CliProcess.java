package dev.holdfast.cli;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.servers.Signals;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The command as a process of its own, as users start it, and what tests want to know of it. Waits by polling, up
 * to a deadline that only a failure reaches.
 */
public final class CliProcess implements AutoCloseable {

    /** An empty standard input. */
    public static final ProcessBuilder.Redirect NOTHING = ProcessBuilder.Redirect.from(new File("/dev/null"));

    public static final Duration DEADLINE = Duration.ofSeconds(60);

    /** From this Java on, code that loads a native library without leave brings warnings to stderr (JEP 472). */
    private static final int FIRST_TO_WARN_OF_NATIVE_ACCESS = 24;

    /** What sets signals back to what they usually do; nothing where the system has no such command. */
    private static final List<String> USUAL_SIGNALS = usualSignals();

    private final Process process;
    private final Path out;
    private final Path err;

    private CliProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /**
     * Where a test works: a directory, what the environment says beside the inherited, and the start of the command
     * line.
     */
    public record Place(Path directory, Map<String, String> environment, List<String> java) {

        public Place(Path directory, Map<String, String> environment) {
            this(directory, environment, CliProcess.java());
        }

        public CliProcess start(String... args) {
            return startWith(NOTHING, args);
        }

        public CliProcess startWith(ProcessBuilder.Redirect stdin, String... args) {
            List<String> command = new ArrayList<>(java);
            command.addAll(List.of(args));
            return startProgram(stdin, command);
        }

        /** Starts something else in the same place and with the same bookkeeping. */
        public CliProcess startProgram(ProcessBuilder.Redirect stdin, List<String> command) {
            try {
                Path out = Files.createTempFile(directory, "out", ".txt");
                Path err = Files.createTempFile(directory, "err", ".txt");
                ProcessBuilder builder = new ProcessBuilder(withUsualSignals(command))
                        .directory(directory.toFile())
                        .redirectInput(stdin)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
                builder.environment().keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
                builder.environment().put("XDG_CONFIG_HOME", directory.toString());
                builder.environment().put(StoreLocation.TIMEOUT_VARIABLE, DEADLINE.toString());
                builder.environment().putAll(environment);
                return new CliProcess(builder.start(), out, err);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Runs it to its end. */
        public CliProcess run(String... args) {
            CliProcess cli = start(args);
            cli.exitCode();
            return cli;
        }

        public Path file(String name) {
            return directory.resolve(name);
        }

        public String read(String name) {
            try {
                return Files.readString(file(name));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        public void delete(String name) {
            try {
                Files.deleteIfExists(file(name));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Writes a script that can be run. */
        @CanIgnoreReturnValue
        public Path script(String name, String text) {
            try {
                Path script = Files.writeString(file(name), "#!/bin/sh\n" + text);
                if (!script.toFile().setExecutable(true)) {
                    throw new IOException("can't make " + script + " executable");
                }
                return script;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Without the ignored signals that whoever runs the tests has left to them: {@code nohup} ignores HUP, and a shell
     * ignores INT for what it runs in the background.
     */
    private static List<String> withUsualSignals(List<String> command) {
        List<String> all = new ArrayList<>(USUAL_SIGNALS);
        all.addAll(command);
        return all;
    }

    private static List<String> usualSignals() {
        List<String> prefix = List.of("env", "--default-signal=HUP,INT,QUIT,TERM");
        List<String> probe = new ArrayList<>(prefix);
        probe.add("true");
        try {
            Process process = new ProcessBuilder(probe)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor() == 0 ? prefix : List.of();
        } catch (IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The start of a command line that runs this build. */
    public static List<String> java() {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-XX:-MaxFDLimit",
                "-Dfile.encoding=UTF-8"));
        if (Runtime.version().feature() >= FIRST_TO_WARN_OF_NATIVE_ACCESS) {
            command.add("--enable-native-access=ALL-UNNAMED"); // as the manifest of the built jar says
        }
        command.addAll(List.of("-cp", classPath, "dev.holdfast.cli.Main"));
        return command;
    }

    public long pid() {
        return process.pid();
    }

    public ProcessHandle handle() {
        return process.toHandle();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end. */
    @CanIgnoreReturnValue
    public int exitCode() {
        try {
            if (!process.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("still running after " + DEADLINE + "; stderr: " + err());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public String out() {
        return read(out);
    }

    public String err() {
        return read(err);
    }

    /** The standard input, where it is a pipe. */
    public java.io.OutputStream stdin() {
        return process.getOutputStream();
    }

    public void signal(String name) {
        Signals.send(name, process.toHandle());
    }

    public static void signal(long pid, String name) {
        Signals.send(name, ProcessHandle.of(pid).orElseThrow());
    }

    /** Sends a signal, unless it has ended by then. */
    public void signalIfAlive(String name) {
        if (!Signals.trySend(name, process.toHandle()) && process.isAlive()) {
            throw new AssertionError("can't send " + name + " to " + process.pid());
        }
    }

    /** Waits until something is so. */
    public static void until(String what, BooleanSupplier condition) {
        if (!isSoWithin(DEADLINE, condition)) {
            throw new AssertionError("after " + DEADLINE + " still not so: " + what);
        }
    }

    /** Whether it prints something to its standard output before a time has passed. */
    public boolean hasPrintedWithin(Duration time, String text) {
        return isSoWithin(time, () -> out().contains(text));
    }

    private static boolean isSoWithin(Duration time, BooleanSupplier condition) {
        long end = System.nanoTime() + time.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return true;
    }

    /** Waits until a file is there and has a whole line, and answers its text. */
    @CanIgnoreReturnValue
    public static String untilWritten(Path file) {
        until(file + " is written", () -> {
            try {
                return Files.exists(file) && Files.readString(file).endsWith("\n");
            } catch (IOException e) {
                return false;
            }
        });
        return read(file).strip();
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the command and all processes below it. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
