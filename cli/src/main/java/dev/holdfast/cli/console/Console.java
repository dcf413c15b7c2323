package dev.holdfast.cli.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the command talks to people: always UTF-8, whatever the locale of the JVM. Text from elsewhere is {@linkplain
 * Printable escaped} by who puts it into a message.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; a line is written in one piece.
 */
public final class Console {

    private final PrintStream out;
    private final PrintStream err;
    private final boolean verbose;
    private final boolean terminal;

    public Console(PrintStream out, PrintStream err, boolean verbose, boolean terminal) {
        this.out = out;
        this.err = err;
        this.verbose = verbose;
        this.terminal = terminal;
    }

    /** The streams of this process. */
    public static Console ofProcess() {
        return new Console(stream(FileDescriptor.out), stream(FileDescriptor.err), false, isTerminal(1));
    }

    /** The same streams, telling more or less. */
    public Console verbose(boolean wanted) {
        return new Console(out, err, wanted, terminal);
    }

    /** Whether a person reads the answers, and no program. */
    public boolean isTerminal() {
        return terminal;
    }

    /** What the JVM says of its console is about all streams at once, and not the same on each version. */
    private static boolean isTerminal(int descriptor) {
        try {
            Path device = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor));
            return device.startsWith("/dev/pts") || device.toString().startsWith("/dev/tty");
        } catch (IOException e) {
            return false; // there is no telling
        }
    }

    /** Writes a line of the answer. */
    public void print(String line) {
        write(out, line + '\n');
    }

    /** Writes a text of the answer as it is. */
    public void printText(String text) {
        write(out, text);
    }

    /** Tells people something, on standard error. */
    public void say(String message) {
        write(err, "holdfast: " + message + '\n');
    }

    /** As {@link #say}, if it was asked for. */
    public void sayIfVerbose(String message) {
        if (verbose) {
            say(message);
        }
    }

    /** Writes a text as it is, on standard error. */
    public void complain(String text) {
        write(err, text);
    }

    /** Writes where a bug came from, on standard error. */
    public void trace(Throwable bug) {
        bug.printStackTrace(err);
        err.flush();
    }

    /** Whether what was printed got through; a closed pipe or a full disk is not a success. */
    public boolean isPrinted() {
        out.flush();
        return !out.checkError();
    }

    private static void write(PrintStream stream, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        synchronized (stream) {
            stream.write(bytes, 0, bytes.length);
            stream.flush();
        }
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), false, StandardCharsets.UTF_8);
    }
}
