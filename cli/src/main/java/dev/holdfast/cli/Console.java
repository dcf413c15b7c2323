package dev.holdfast.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Where the command talks to people: always UTF-8, whatever the locale of the JVM. Text from elsewhere is {@linkplain
 * Printable escaped} by who puts it into a message.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; a line is written in one piece.
 */
final class Console {

    private final PrintStream out;
    private final PrintStream err;
    private final boolean verbose;

    Console(PrintStream out, PrintStream err, boolean verbose) {
        this.out = out;
        this.err = err;
        this.verbose = verbose;
    }

    /** The streams of this process. */
    static Console ofProcess() {
        return new Console(stream(FileDescriptor.out), stream(FileDescriptor.err), false);
    }

    /** The same streams, telling more or less. */
    Console verbose(boolean wanted) {
        return new Console(out, err, wanted);
    }

    /** Writes a line of the answer. */
    void print(String line) {
        write(out, line + '\n');
    }

    /** Writes a text of the answer as it is. */
    void printText(String text) {
        write(out, text);
    }

    /** Tells people something, on standard error. */
    void say(String message) {
        write(err, "holdfast: " + message + '\n');
    }

    /** As {@link #say}, if it was asked for. */
    void sayIfVerbose(String message) {
        if (verbose) {
            say(message);
        }
    }

    /** Writes a text as it is, on standard error. */
    void complain(String text) {
        write(err, text);
    }

    /** Writes where a bug came from, on standard error. */
    void trace(Throwable bug) {
        bug.printStackTrace(err);
        err.flush();
    }

    /** Whether what was printed got through; a closed pipe or a full disk is not a success. */
    boolean isPrinted() {
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
