package dev.holdfast.cli.browser;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.server.ConsoleServer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Tests of the page share a browser, and close what they have opened in reverse order. */
@NeedsChromium
@Tag("server")
abstract class BrowserTest {

    private static Browser browser;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    @BeforeAll
    static void startBrowser() throws IOException {
        browser = Browser.start();
    }

    @AfterAll
    static void stopBrowser() {
        browser.close();
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    final <T extends AutoCloseable> T closing(T resource) {
        opened.push(resource);
        return resource;
    }

    final Holdfast client(String store, String label) {
        return closing(Holdfast.builder(store).label(label).build());
    }

    final ConsoleServer serve(LockConsole.Builder console) throws IOException {
        return serve(console, 0);
    }

    final ConsoleServer serve(LockConsole.Builder console, int port) throws IOException {
        return closing(ConsoleServer.start(closing(console.streaming().build()), port, Set.of()));
    }

    final Tab tab() throws IOException, InterruptedException {
        return closing(browser.newTab());
    }

    /** Requests a lock of others and releases it as soon as it is granted. */
    static CompletableFuture<Void> queue(Holdfast client, String name) {
        return client.lock(name).acquireAsync().thenAccept(Hold::close).toCompletableFuture();
    }
}
