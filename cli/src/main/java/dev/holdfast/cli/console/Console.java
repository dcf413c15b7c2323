package dev.holdfast.cli.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The output of the command: always UTF-8, in any locale. Callers {@linkplain Printable escape} text from elsewhere.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; lines are not interleaved.
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

    /** The same streams, with or without verbose messages. */
    public Console verbose(boolean wanted) {
        return new Console(out, err, wanted, terminal);
    }

    /** Whether standard output is a terminal. */
    public boolean isTerminal() {
        return terminal;
    }

    /** Needed because the JVM's own answer is about all streams at once and differs between versions. */
    private static boolean isTerminal(int descriptor) {
        try {
            Path device = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor));
            return device.startsWith("/dev/pts") || device.toString().startsWith("/dev/tty");
        } catch (IOException e) {
            return false; // not known
        }
    }

    /** Writes a line to standard output. */
    public void print(String line) {
        write(out, line + '\n');
    }

    /** Writes a text to standard output, without a line break. */
    public void printText(String text) {
        write(out, text);
    }

    /** Writes a message to standard error. */
    public void say(String message) {
        write(err, "holdfast: " + message + '\n');
    }

    /** Writes a message to standard error if the output is verbose. */
    public void sayIfVerbose(String message) {
        if (verbose) {
            say(message);
        }
    }

    /** Writes a text to standard error, without a prefix. */
    public void complain(String text) {
        write(err, text);
    }

    /** Writes the stack trace of a bug to standard error. */
    public void trace(Throwable bug) {
        bug.printStackTrace(err);
        err.flush();
    }

    /** Whether all output was written; false after a closed pipe or on a full disk. */
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
