package dev.holdfast.cli.browser;

import dev.holdfast.servers.Chromium;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A headless Chromium, driven by its DevTools protocol. Each of its tabs is used by one thread at a time. */
final class Browser implements AutoCloseable {

    private static final Pattern SOCKET = Pattern.compile("\"webSocketDebuggerUrl\": *\"(ws://[^\"]*/page/[^\"]*)\"");

    private final Process process;
    private final Path profile;
    private final HttpClient client = HttpClient.newHttpClient();
    private final String address;

    private Browser(Process process, Path profile, String address) {
        this.process = process;
        this.profile = profile;
        this.address = address;
    }

    static Browser start() throws IOException {
        Path profile = Files.createTempDirectory("holdfast-browser");
        Process process = new ProcessBuilder(
                        Chromium.find().orElseThrow().toString(),
                        "--headless",
                        "--no-sandbox", // needed as root; it opens nothing but our page
                        "--disable-gpu",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(profile.resolve("log").toFile())
                .start();
        Path port = profile.resolve("DevToolsActivePort");
        Instant deadline = Instant.now().plus(Tab.PATIENCE);
        while (!Files.exists(port) || Files.size(port) == 0) {
            if (!process.isAlive() || Instant.now().isAfter(deadline)) {
                throw new IOException("No browser: " + Files.readString(profile.resolve("log")));
            }
            LockSupport.parkNanos(5_000_000); // it needs the processor itself
        }
        return new Browser(
                process, profile, "http://127.0.0.1:" + Files.readAllLines(port).get(0));
    }

    /** Opens a tab as wide as a desktop's, in light colours. */
    Tab newTab() throws IOException, InterruptedException {
        String page = client.send(
                        HttpRequest.newBuilder(URI.create(address + "/json/new?about:blank"))
                                .PUT(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
        Matcher socket = SOCKET.matcher(page);
        if (!socket.find()) {
            throw new IOException("No page: " + page);
        }
        Tab tab = new Tab(URI.create(socket.group(1)), client);
        tab.size(1280, 860, false);
        tab.colours("light");
        return tab;
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroy); // the program may be a script
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            deleteProfile();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void deleteProfile() {
        try (Stream<Path> files = Files.walk(profile)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            // A process of the browser may still write; the directory is a temporary one.
        }
    }
}
