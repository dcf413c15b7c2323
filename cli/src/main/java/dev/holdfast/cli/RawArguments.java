package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Printable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Rejects arguments that the JVM has changed: it reads the command line in the encoding of the locale and replaces what
 * it can't read. A command that silently gets a wrong file name is worse than one that does not run.
 */
final class RawArguments {

    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final char REPLACEMENT = '\uFFFD';

    private RawArguments() {}

    /**
     * Checks that no argument has changed.
     *
     * @throws CliException (usage) if one has
     */
    static void check(List<String> args) {
        for (String arg : args) {
            if (arg.indexOf(REPLACEMENT) >= 0 && !isMeant(arg)) {
                throw CliException.usage("the argument '" + Printable.escape(arg)
                        + "' contains bytes that are not UTF-8, or the locale is not a UTF-8 locale, "
                        + "so it can't be passed on unchanged. Set LC_ALL to a UTF-8 locale such as "
                        + "C.UTF-8, or put the command into a script");
            }
        }
    }

    /** Whether the replacement characters are in the argument as it was given. */
    private static boolean isMeant(String arg) {
        try {
            byte[] raw = Files.readAllBytes(COMMAND_LINE);
            String all = "\0"
                    + StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(raw))
                            .toString();
            return all.contains("\0" + arg + "\0");
        } catch (CharacterCodingException e) {
            return false;
        } catch (IOException e) {
            return false; // not known
        }
    }
}
