package dev.holdfast.cli.browser;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.server.ConsoleServer;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The console in Chromium shows what happens at a store")
class StoresInBrowserTest extends BrowserTest {

    @TempDir
    Path directory;

    private ConsoleServer console(String store) throws Exception {
        Holdfast own = client(store, "console");
        return serve(LockConsole.builder(() -> Optional.of(own)).store("store", "test"));
    }

    @Test
    @DisplayName("SQLite")
    void sqlite() throws Exception {
        scenario("sqlite:" + directory.resolve("locks"));
    }

    @Test
    @DisplayName("PostgreSQL")
    void postgresql() throws Exception {
        scenario(PostgresServer.shared()
                .newDatabase()
                .replaceFirst("jdbc:(.*)//(.*)\\?.*user=([^&]*).*", "$1//$3@$2?sslmode=disable"));
    }

    @Test
    @DisplayName("Redis")
    void redis() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            scenario(server.uri());
            closeAll();
        }
    }

    /** A queue grows and drains; a deadlock of three processes is found, and ended by a forced release. */
    private void scenario(String store) throws Exception {
        Holdfast billing = client(store, "billing@app-03");
        ConsoleServer console = console(store);
        Tab tab = tab();
        Hold hold = billing.lock("invoice-run").acquire();
        tab.open(console.newLink());
        tab.awaitText("billing@app-03");
        CompletableFuture<Void> next = queue(client(store, "dunning@app-05"), "invoice-run");
        tab.awaitText("Waited for 1");
        tab.view("lock/invoice-run");
        tab.awaitText("1 claim waits, the first, dunning@app-05");
        hold.close();
        next.join();
        tab.awaitText("No claim waits");
        try (ThreeProcesses threads = new ThreeProcesses(label -> client(store, label))) {
            tab.view("blocking");
            tab.awaitText("Deadlock of 3");
            tab.awaitTrue("document.title.startsWith('● Deadlock')");
            assertThat(tab.eval("document.querySelectorAll('.tree .cyc').length"))
                    .isEqualTo("3");
            tab.click(".rootline a");
            tab.awaitText("they wait for each other");
            String name = tab.eval("document.querySelector('h1').textContent");
            assertThat(ThreeProcesses.NAMES).contains(name);
            tab.type("f");
            tab.awaitText("Until then both may work at once.");
            tab.type(name);
            tab.click("#do-force");
            tab.awaitText("is notified; its code continues until it checks.");
            tab.press("Escape", 27);
            tab.awaitTrue("document.title.startsWith(" + Tab.quoted(name) + ")");
            tab.view("blocking");
            tab.awaitText("Nothing is blocked");
            assertThat(threads.isOver()).isTrue();
        }
    }

    @Test
    @DisplayName("a lock that is lost, in two tabs, and a server that is stopped and started")
    void faults() throws Exception {
        try (RedisServer server = RedisServer.start();
                FaultProxy proxy = FaultProxy.to(server.port())) {
            Holdfast cutOff = closing(Holdfast.builder("redis://127.0.0.1:" + proxy.port())
                    .label("billing@app-03")
                    .sessionTtl(Duration.ofSeconds(3))
                    .build());
            ConsoleServer console = console(server.uri());
            Tab tab = tab();
            tab.open(console.newLink());
            tab.awaitText("No locks yet");
            Tab other = tab();
            other.open("http://127.0.0.1:" + console.port() + "/#/lock/invoice-run");
            other.awaitText("Nothing is recorded under this name");
            Hold hold = cutOff.lock("invoice-run").acquire();
            tab.awaitText("billing@app-03");
            other.awaitText("billing@app-03");
            proxy.blackHole();
            tab.awaitText("lost invoice-run because its lease expired");
            other.awaitTrue("document.querySelectorAll('.tl .loss').length === 1");
            other.awaitText("It is not held");
            proxy.heal();
            assertThat(hold.isHeld()).isFalse();
            server.kill();
            tab.awaitText("The store has been unreachable since");
            other.awaitText("The store has been unreachable since");
            server.restart();
            tab.awaitTrue("!document.body.innerText.includes('unreachable')");
            closeAll();
        }
    }

    @Test
    @DisplayName("10,000 names")
    void manyNames() throws Exception {
        String store = "sqlite:" + directory.resolve("many");
        Holdfast orders = client(store, "orders@node-1");
        List<CompletionStage<Hold>> holds = IntStream.range(0, 10_000)
                .mapToObj(i -> orders.lock("order/%05d".formatted(i)).acquireAsync())
                .toList();
        for (CompletionStage<Hold> hold : holds) {
            assertThat(hold.toCompletableFuture().join().isHeld()).isTrue();
        }
        ConsoleServer console = console(store);
        Tab tab = tab();
        tab.open(console.newLink());
        tab.awaitText("All 10 000");
        tab.awaitText("1–100 of 10 000");
        CompletableFuture<Void> waiting = queue(client(store, "orders@node-2"), "order/07777");
        tab.awaitText("Waited for 1");
        tab.awaitTrue("document.querySelector('tbody tr').dataset.lock === 'order/07777'");
        tab.type("n");
        tab.awaitText("101–200 of 10 000");
        tab.type("/");
        tab.awaitTrue("document.activeElement.id === 'q'");
        tab.type("order/0999");
        tab.awaitText("10 of 10 000");
        holds.get(7_777).toCompletableFuture().join().close();
        waiting.join();
    }
}
