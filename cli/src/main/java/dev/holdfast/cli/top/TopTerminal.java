package dev.holdfast.cli.top;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sun.misc.Signal;

/**
 * The terminal of this process, with another screen than the shell's, set to report each key at once and not to echo
 * it. {@link #close} or the end of the process restores it. Uses {@code stty}, since Java has no way to do so.
 */
final class TopTerminal implements AutoCloseable {

    private static final File TTY = new File("/dev/tty");
    private static final int MAX_KEYS = 100;

    // The other screen, so that the terminal is as before afterwards; no cursor.
    private static final String BEGIN = "\u001b[?1049h\u001b[?25l";
    private static final String END = "\u001b[?25h\u001b[?1049l";

    /** The size of a terminal. */
    record Size(int width, int height) {}

    private final Console console;
    private final String settings;
    private final Thread restorer = new Thread(this::restore, "holdfast-terminal");
    private final BlockingQueue<Integer> keys = new LinkedBlockingQueue<>(MAX_KEYS);
    private volatile boolean resized = true;
    private Size size = new Size(80, 24);

    /** Set by the first of the two that end it: a signal runs the hook while the command still draws. */
    @GuardedBy("this")
    private boolean restored;

    /**
     * Takes over the terminal.
     *
     * @throws CliException if this process has none
     */
    TopTerminal(Console console) {
        this.console = console;
        settings = stty("-g");
        Runtime.getRuntime().addShutdownHook(restorer);
        print(BEGIN);
        // Without signals from keys: Ctrl-C is a key like q, and nothing can stop this process on the other screen.
        var unused = stty("-icanon", "-echo", "-isig", "min", "1", "time", "0");
        var unusedHandler = Signal.handle(new Signal("WINCH"), signal -> resized = true);
        Thread reader = new Thread(this::read, "holdfast-keys");
        reader.setDaemon(true);
        reader.start();
    }

    private static String stty(String... arguments) {
        List<String> command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(TTY)
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() == 0) {
                return output;
            }
            throw new CliException(ExitCode.CANNOT_RUN, "top needs a terminal: stty said '" + output + "'");
        } catch (IOException e) {
            throw new CliException(
                    ExitCode.CANNOT_RUN, "top needs a terminal and the program stty: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CliException(ExitCode.CANNOT_RUN, "interrupted", e);
        }
    }

    /** The present size. */
    Size size() {
        if (resized) {
            resized = false;
            String[] parts = stty("size").split(" ", -1);
            if (parts.length == 2) {
                int height = Integer.parseInt(parts[0]);
                int width = Integer.parseInt(parts[1]);
                size = height > 0 && width > 0 ? new Size(width, height) : size; // some report 0 0
            }
        }
        return size;
    }

    private void read() {
        try (InputStream in = System.in) {
            TopKeys input = new TopKeys(in);
            for (int key = input.next(); key >= 0; key = input.next()) {
                keys.put(key);
            }
            keys.put(TopState.END);
        } catch (IOException | InterruptedException e) {
            // The terminal was closed, or the command ends.
        }
    }

    /** The next key; null if there is none in time. */
    @Nullable
    Integer key(long millis) throws InterruptedException {
        return keys.poll(millis, TimeUnit.MILLISECONDS);
    }

    /** Prints text as it is, unless the terminal is restored. */
    synchronized void print(String text) {
        if (!restored) {
            console.printText(text);
        }
    }

    private synchronized void restore() {
        print(END);
        restored = true;
        try {
            var unused = stty(settings);
        } catch (CliException e) {
            // The terminal is closed.
        }
    }

    @Override
    public void close() {
        restore();
        try {
            var unused = Runtime.getRuntime().removeShutdownHook(restorer);
        } catch (IllegalStateException e) {
            // The process is ending, and the hook is running.
        }
    }
}
