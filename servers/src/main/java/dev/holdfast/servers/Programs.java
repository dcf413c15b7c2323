package dev.holdfast.servers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Programs in separate JVMs, on the class path of this one. Their output is in one transcript, in the order in which
 * they print it.
 *
 * <p><b>Thread-safety:</b> not thread-safe.
 */
public final class Programs implements AutoCloseable {

    private final Path transcript = ServerHome.directory("programs").resolve("transcript");
    private final List<ServerProcess> started = new ArrayList<>();

    /** None yet. */
    public Programs() {}

    /** Starts a program, and does not wait. */
    public ServerProcess start(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        ServerProcess process = ServerProcess.start(ServerHome.directory("program"), command, transcript);
        started.add(process);
        return process;
    }

    /** The complete lines printed so far. */
    public List<String> lines() {
        try {
            String text = Files.readString(transcript, StandardCharsets.UTF_8);
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The lines that match, with their groups. */
    public List<MatchResult> lines(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return lines().stream()
                .map(pattern::matcher)
                .filter(Matcher::matches)
                .map(Matcher::toMatchResult)
                .toList();
    }

    /** Waits for a line that matches, and returns the first, with its groups. See {@link #awaitLines}. */
    @CanIgnoreReturnValue
    public MatchResult awaitLine(String regex) {
        return awaitLines(regex, 1).get(0);
    }

    /**
     * Waits for a number of lines that match, and returns them.
     *
     * @throws IllegalStateException with the transcript if there are fewer after a minute
     */
    @CanIgnoreReturnValue
    public List<MatchResult> awaitLines(String regex, int count) {
        try {
            Until.await(
                    count + " lines match '" + regex + "'", () -> lines(regex).size() >= count);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(e.getMessage() + " in:\n" + String.join("\n", lines()), e);
        }
        return lines(regex);
    }

    /** Kills all of them. */
    @Override
    public void close() {
        started.forEach(ServerProcess::kill);
    }
}
