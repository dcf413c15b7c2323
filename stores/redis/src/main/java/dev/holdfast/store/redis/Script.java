package dev.holdfast.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A constant program that the server runs.
 *
 * @param text the program
 * @param digest what the server calls it once it has seen it
 */
record Script(String text, String digest) {

    /** What is made when there is contention; each part needs those before it. */
    private static final List<String> MACHINE =
            List.of("common", "resources", "claims", "admission", "loading", "holding", "running");

    /** What is made when it is needed; each part needs those before it, and the above. */
    private static final List<String> REST = List.of("ending", "bounded", "latches", "sessions", "reports", "steps");

    /** What carries out the commands; {@code base.lua} says how. */
    static final Script COMMANDS = new Script(read("base")
            + function("machine", read(MACHINE) + function("rest", read(REST)) + read("turns"))
            + read("main"));

    Script(String text) {
        this(text, digest(text));
    }

    private static String function(String name, String body) {
        return "\nlocal function " + name + "()\n" + body + "end\n\n";
    }

    private static String read(List<String> parts) {
        return parts.stream().map(Script::read).collect(Collectors.joining("\n"));
    }

    private static String read(String part) {
        String resource = "script/" + part + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("The resource " + resource + " is missing beside " + Script.class);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String digest(String text) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-1");
            return HexFormat.of().formatHex(sha.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-1", e);
        }
    }
}
