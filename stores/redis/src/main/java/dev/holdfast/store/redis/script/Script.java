package dev.holdfast.store.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A Lua script that the server runs.
 *
 * @param text the source
 * @param digest its SHA-1, by which EVALSHA calls it
 */
public record Script(String text, String digest) {

    /** A line that is replaced by other parts. */
    private static final Pattern PARTS = Pattern.compile("^-- part: (.*)\\n", Pattern.MULTILINE);

    /** Executes the commands; described in {@code commands.lua}. */
    public static final Script COMMANDS = new Script(read("commands"));

    public Script(String text) {
        this(text, digest(text));
    }

    private static String read(String part) {
        String resource = part + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("The resource " + resource + " is missing next to " + Script.class);
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return PARTS.matcher(text).replaceAll(found -> Matcher.quoteReplacement(readAll(found.group(1))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String readAll(String parts) {
        return Arrays.stream(parts.split(" ")).map(Script::read).collect(Collectors.joining("\n"));
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
