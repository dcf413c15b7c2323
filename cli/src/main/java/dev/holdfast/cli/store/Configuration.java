package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the command: variables of the environment, and for those that are not set or empty, lines {@code
 * NAME=VALUE} of the first configuration file that exists.
 */
public final class Configuration {

    /** Where a setting comes from. */
    public enum Source {
        ENVIRONMENT,
        FILE,
        DEFAULT
    }

    private static final Path SYSTEM_FILE = Path.of("/etc/holdfast/config");

    private final Map<String, String> environment;
    private final @Nullable Path file;
    private final Map<String, String> lines;

    private Configuration(Map<String, String> environment, @Nullable Path file, Map<String, String> lines) {
        this.environment = environment;
        this.file = file;
        this.lines = lines;
    }

    /** Without a file. */
    static Configuration of(Map<String, String> environment) {
        return new Configuration(environment, null, Map.of());
    }

    /**
     * Reads the file, if there is one.
     *
     * @throws CliException if it can't be read or understood
     */
    public static Configuration read(Map<String, String> environment) {
        for (Path file : files(environment)) {
            if (Files.exists(file)) {
                return new Configuration(environment, file, parse(file));
            }
        }
        return of(environment);
    }

    /** The files in the order in which they are searched: the user's, then the machine's. */
    public static List<Path> files(Map<String, String> environment) {
        Path ofUser = directory(environment, "XDG_CONFIG_HOME", ".config");
        return ofUser == null ? List.of(SYSTEM_FILE) : List.of(ofUser.resolve("config"), SYSTEM_FILE);
    }

    /** The directory {@code holdfast} of a kind of the user's files; null without a home directory. */
    static @Nullable Path directory(Map<String, String> environment, String variable, String inHome) {
        String base = environment.getOrDefault(variable, "");
        String home = environment.getOrDefault("HOME", "");
        if (base.isEmpty() && home.isEmpty()) {
            return null;
        }
        return (base.isEmpty() ? Path.of(home).resolve(inHome) : Path.of(base)).resolve("holdfast");
    }

    /** The file that was read, if there is one. */
    public @Nullable Path file() {
        return file;
    }

    /** The value of a variable; empty if neither environment nor file have it. */
    public String value(String variable) {
        String value = environment.getOrDefault(variable, "");
        return value.isEmpty() ? lines.getOrDefault(variable, "") : value;
    }

    /** Where {@link #value} has it from. */
    public Source source(String variable) {
        return !environment.getOrDefault(variable, "").isEmpty()
                ? Source.ENVIRONMENT
                : lines.getOrDefault(variable, "").isEmpty() ? Source.DEFAULT : Source.FILE;
    }

    /** A variable for messages, with its file if it is from there. */
    String describe(String variable) {
        return source(variable) == Source.FILE
                ? variable + " in " + Printable.quote(String.valueOf(file))
                : "$" + variable;
    }

    private static Map<String, String> parse(Path file) {
        List<String> all;
        try {
            all = Files.readAllLines(file);
        } catch (IOException e) {
            throw new CliException(
                    ExitCode.STORE_UNUSABLE,
                    "the configuration " + Printable.quote(file.toString()) + " can't be read: "
                            + Printable.escape(e.toString()),
                    e);
        }
        Map<String, String> lines = new HashMap<>();
        List<String> known = new ArrayList<>(List.of(StoreLocation.VARIABLE, StoreLocation.TIMEOUT_VARIABLE));
        for (int i = 0; i < all.size(); i++) {
            String line = all.get(i).strip();
            int equals = line.indexOf('=');
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (equals < 0 || !known.remove(line.substring(0, equals))) {
                // The value may be a credential.
                throw new CliException(
                        ExitCode.STORE_UNUSABLE,
                        "the configuration " + Printable.quote(file.toString()) + " can't be used: line " + (i + 1)
                                + " is neither " + StoreLocation.VARIABLE + "=URI nor "
                                + StoreLocation.TIMEOUT_VARIABLE + "=DURATION, each at most once");
            }
            lines.put(line.substring(0, equals), line.substring(equals + 1));
        }
        return lines;
    }
}
