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
 * Sees to it that no argument is changed on its way through the JVM, which reads the command line in the encoding of
 * the locale and puts a replacement character in the place of what it can't read. A command that quietly gets another
 * file name than was meant would be worse than one that does not run.
 */
final class RawArguments {

    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final char REPLACEMENT = '\uFFFD';

    private RawArguments() {}

    /**
     * Checks that all is as it was given.
     *
     * @throws CliException (usage) if it is not
     */
    static void check(List<String> args) {
        for (String arg : args) {
            if (arg.indexOf(REPLACEMENT) >= 0 && !isMeant(arg)) {
                throw CliException.usage("the argument '" + Printable.escape(arg)
                        + "' holds bytes that are not UTF-8, or the locale is not a UTF-8 one: it can't be "
                        + "passed on as it is. Set LC_ALL to a UTF-8"
                        + " locale such as C.UTF-8, or put the command into a script");
            }
        }
    }

    /** Whether an argument really holds replacement characters, bytes and all. */
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
            return false; // there is no telling
        }
    }
}
