package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.LiveStore;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.server.ConsoleServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** {@code holdfast console}: serves the page until it is interrupted. */
final class ConsolePage {

    private final StoreLocation location;
    private final Console console;

    ConsolePage(StoreLocation location, Console console) {
        this.location = location;
        this.console = console;
    }

    /**
     * Serves the page until this thread is interrupted or the process ends.
     *
     * @param proxyHosts other names that the page is requested under
     * @param desktop the environment to find a desktop in; empty for none
     * @return the exit code
     */
    int serve(int port, boolean readOnly, Set<String> proxyHosts, Map<String, String> desktop)
            throws InterruptedException {
        try (LiveStore store = new LiveStore(location);
                LockConsole page = LockConsole.builder(store)
                        .store(location.scheme(), location.place())
                        .version(Version.read())
                        .streaming()
                        .readOnly(() -> readOnly)
                        .audit(line -> console.say(Printable.escape(line)))
                        .build();
                ConsoleServer server = ConsoleServer.start(page, port, proxyHosts)) {
            announce(server, console.isTerminal() ? desktop : Map.of());
            if (console.isTerminal()) {
                // Elsewhere the input may be that of another program.
                Thread input = new Thread(() -> renewLinks(server), "holdfast-input");
                input.setDaemon(true);
                input.start();
            }
            new CountDownLatch(1).await();
            return ExitCode.OK;
        } catch (IOException e) {
            throw new CliException(
                    ExitCode.CANNOT_RUN, "can't serve at port " + port + ": " + Printable.escape(e.toString()), e);
        }
    }

    private void announce(ConsoleServer server, Map<String, String> desktop) {
        String link = server.newLink();
        console.print(link);
        console.say("the link works once, for five minutes"
                + (console.isTerminal() ? "; press Enter for a new one, Ctrl-C to end" : ""));
        if (desktop.containsKey("DISPLAY") || desktop.containsKey("WAYLAND_DISPLAY")) {
            open(link);
        }
    }

    /** A new link for each line of input. */
    private void renewLinks(ConsoleServer server) {
        try {
            for (int c = System.in.read(); c >= 0; c = System.in.read()) {
                if (c == '\n') {
                    console.print(server.newLink());
                }
            }
        } catch (IOException e) {
            // No input: the link that was printed is the only one.
        }
    }

    /**
     * Opens the link in a browser, by way of a file that only this user can read: other users see the arguments of a
     * process.
     */
    private void open(String link) {
        try {
            Path file = Files.createTempFile(
                    "holdfast-console",
                    ".html",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            file.toFile().deleteOnExit();
            Files.writeString(
                    file,
                    "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"
                            + "<meta http-equiv=refresh content=\"0; url=" + link + "\"><a href=\"" + link
                            + "\">Holdfast</a>",
                    StandardCharsets.UTF_8);
            var unused = new ProcessBuilder("xdg-open", file.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            console.sayIfVerbose("can't open a browser: " + Printable.escape(e.toString()));
        }
    }
}
