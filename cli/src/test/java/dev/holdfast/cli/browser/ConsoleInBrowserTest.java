package dev.holdfast.cli.browser;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.server.ConsoleServer;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The console in Chromium")
class ConsoleInBrowserTest extends BrowserTest {

    private static final Path PICTURES = Path.of("target", "pictures");

    private volatile boolean isAway;
    private volatile boolean readOnly;
    private Holdfast billing;
    private ConsoleServer server;
    private Tab browser;

    @BeforeEach
    void start() throws Exception {
        billing = client("billing@app-03");
        server = serve(LockConsole.builder(() -> {
                    if (isAway) {
                        throw new IllegalStateException("connection to db-1:5432 timed out");
                    }
                    return Optional.of(billing);
                })
                .store("postgresql", "db-1/shop")
                .version("0.1.0")
                .tasks(Set.of("export/ledger", "cleanup/temp"))
                .readOnly(() -> readOnly));
        browser = tab();
    }

    private Holdfast client(String label) {
        return client("memory:browser", label);
    }

    private CompletableFuture<Void> queue(String label, String name) {
        return queue(client(label), name);
    }

    @Test
    @DisplayName("shows names with markup as text, and breaks no rule of its policy")
    void markup() throws InterruptedException {
        String name = "<img src=x onerror=\"document.title='broken'\">\u202e\n";
        try (Hold hold = billing.lock(name).acquire()) {
            browser.open(server.newLink());
            browser.awaitText("<img src=x onerror=\"document.title='broken'\">\\u202e\\n");
            assertThat(browser.eval("document.images.length")).isEqualTo("0");
            assertThat(browser.eval("document.title")).isEqualTo("Locks · Holdfast");
            assertThat(browser.eval("location.hash")).as("without the key").isEqualTo("#/");
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("shows a queue that grows and drains")
    void queue() throws InterruptedException {
        Hold hold =
                billing.lock("invoice-run").acquire(AcquireOptions.defaults().withMessage("Month end November"));
        browser.open(server.newLink());
        browser.awaitText("Month end November");
        CompletableFuture<Void> first = queue("dunning@app-05", "invoice-run");
        browser.awaitText("Waited for 1");
        browser.press("j", 74);
        browser.press("Enter", 13);
        browser.awaitText("Why am I waiting?");
        browser.awaitText("1 claim waits, the first, dunning@app-05");
        browser.type("2");
        browser.awaitText("1 root blocker");
        hold.close();
        first.join();
        browser.awaitText("Nothing is blocked");
        browser.type("3");
        browser.awaitText("Sessions that hold or wait");
    }

    @Test
    @DisplayName("releases a lock by force after its name was typed, and says what has happened")
    void force() throws InterruptedException {
        Hold hold = billing.lock("invoice-run").acquire();
        CompletableFuture<Void> next = queue("dunning@app-05", "invoice-run");
        browser.open(server.newLink());
        browser.awaitText("invoice-run");
        browser.view("lock/invoice-run");
        browser.awaitText("dunning@app-05");
        browser.type("f");
        browser.awaitText("Until then both may work at once.");
        browser.type("invoice-ru");
        assertThat(browser.eval("document.querySelector('#do-force').disabled")).isEqualTo("true");
        browser.type("n");
        browser.awaitTrue("!document.querySelector('#do-force').disabled");
        browser.click("#do-force");
        browser.awaitText("is notified; its code continues until it checks.");
        next.join();
        assertThat(hold.isHeld()).isFalse();
        browser.press("Escape", 27);
        browser.view("");
        browser.awaitText("was taken from billing@app-03 by force");
    }

    @Test
    @DisplayName("offers no release while it is read-only")
    void readOnly() throws InterruptedException {
        readOnly = true;
        try (Hold hold = billing.lock("invoice-run").acquire()) {
            browser.open(server.newLink());
            browser.awaitText("invoice-run");
            browser.view("lock/invoice-run");
            browser.awaitText("holdfast release invoice-run --force --token " + hold.fencingToken());
            assertThat(browser.eval("document.querySelectorAll('[data-do=force]').length"))
                    .isEqualTo("0");
        }
    }

    @Test
    @DisplayName("says that the store is unreachable, and recovers")
    void away() throws InterruptedException {
        try (Hold hold = billing.lock("invoice-run").acquire()) {
            browser.open(server.newLink());
            browser.awaitText("invoice-run");
            isAway = true;
            browser.awaitText("The store has been unreachable since");
            browser.awaitText("connection to db-1:5432 timed out");
            isAway = false;
            browser.awaitTrue("!document.body.innerText.includes('unreachable')");
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("asks for a key if its own is used up")
    void usedKey() {
        browser.expectFailedRequests();
        browser.open("http://127.0.0.1:" + server.port() + "/#key=wrong");
        browser.awaitText("This page needs its key");
    }

    @Test
    @DisplayName("asks for the key of a server that was restarted, and for a reload if that has another version")
    void restarted() throws Exception {
        try (Hold hold = billing.lock("invoice-run").acquire()) {
            browser.open(server.newLink());
            browser.awaitText("invoice-run");
            browser.expectFailedRequests();
            int port = server.port();
            server.close();
            ConsoleServer newer =
                    serve(LockConsole.builder(() -> Optional.of(billing)).version("0.2.0"), port);
            browser.awaitText("This page needs its key");
            Tab other = tab();
            other.open(newer.newLink());
            other.awaitText("invoice-run");
            browser.view("lock/invoice-run");
            browser.awaitText("This page is of another version.");
            assertThat(browser.eval("document.querySelector('main').innerText"))
                    .as("what the newer server says of the lock")
                    .doesNotContain("billing@app-03");
            browser.click("[data-do=reload]");
            browser.awaitText("billing@app-03");
            assertThat(browser.text()).doesNotContain("another version");
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("says why a store can't be read that has never answered")
    void neverRead() {
        isAway = true;
        browser.open(server.newLink());
        browser.awaitText("The store can't be read: connection to db-1:5432 timed out. What it holds is unknown.");
        assertThat(browser.text()).contains("Waiting for the first answer").doesNotContain("Nothing needs attention");
        isAway = false;
        browser.awaitText("No locks yet");
    }

    @Test
    @DisplayName("follows a new link in the tab of an old page")
    void newLink() throws InterruptedException {
        try (Hold hold = billing.lock("invoice-run").acquire()) {
            browser.expectFailedRequests();
            browser.open("http://127.0.0.1:" + server.port() + "/#key=wrong");
            browser.awaitText("This page needs its key");
            browser.eval("(location.href = " + Tab.quoted(server.newLink()) + ", 1)");
            browser.awaitText("invoice-run");
            assertThat(hold.isHeld()).isTrue();
        }
    }

    /** Takes pictures of a view on each screen, and checks that it fits and is accessible. */
    private void pictures(String view) throws Exception {
        for (int width : List.of(1280, 400)) {
            for (String colours : List.of("light", "dark")) {
                browser.size(width, 860, width == 400);
                browser.colours(colours);
                browser.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
                String state = view + " at " + width + ", " + colours;
                assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth"))
                        .as(state)
                        .isEqualTo("true");
                if (width == 1280 || colours.equals("dark")) {
                    browser.checkAccessibility(state);
                }
                String name = (view.isEmpty() ? "locks" : view.replaceAll("/.*", ""));
                browser.screenshot(PICTURES.resolve(name + "-" + width + "-" + colours + ".png"));
            }
        }
    }

    /** Runs a task once. */
    private void run(String task, boolean succeeds) {
        try {
            billing.task(task).runIfDue(TaskOptions.atMost(Duration.ofMinutes(1)), hold -> {
                if (!succeeds) {
                    throw new IllegalStateException("no data");
                }
            });
        } catch (IllegalStateException e) {
            assertThat(succeeds).isFalse();
        }
    }

    @Test
    @DisplayName("shows which tasks fail, with their runs, and looks for others by name")
    void tasks() throws Exception {
        for (boolean succeeds : new boolean[] {true, false, true, false, false}) {
            run("export/ledger", succeeds);
        }
        run("cleanup/temp", true);
        TaskHold report = billing.task("nightly-report")
                .tryBegin(TaskOptions.atMost(Duration.ofHours(1)))
                .orElseThrow();
        browser.open(server.newLink());
        browser.awaitText(
                "Task export/ledger has failed in its last 2 runs, the newest with java.lang.IllegalStateException");
        browser.type("4");
        browser.awaitText("running for");
        browser.awaitTrue("document.querySelector('tbody tr').dataset.task === 'export/ledger'");
        assertThat(browser.eval("document.querySelectorAll('tr[data-task=\"export/ledger\"] .runs .fail').length"))
                .isEqualTo("3");
        browser.type("j");
        browser.press("Enter", 13);
        browser.awaitTrue("document.querySelectorAll('.plainrow tbody tr').length === 5");
        browser.awaitTrue("!document.body.innerText.includes('not read yet')");
        pictures("tasks");
        browser.size(1280, 860, false);
        report.close();
        browser.awaitTrue("document.querySelector('tr[data-task=nightly-report] .outcome').innerText === 'ok'");
        browser.type("/");
        browser.awaitTrue("document.activeElement.id === 'q'");
        browser.type("no-such-task");
        browser.awaitText("no run is recorded under exactly this name");
        browser.checkAccessibility("no task");
    }

    @Test
    @DisplayName("fits screens of 1280 and 400 pixels in light and dark, and is accessible")
    void pictures() throws Exception {
        try (Hold hold = billing.lock("invoice-run")
                        .acquire(AcquireOptions.defaults().withMessage("Month end November"));
                Hold other = client("importer@app-07").lock("import/eu-west").acquire();
                ThreeProcesses threads = new ThreeProcesses(this::client)) {
            List<CompletableFuture<Void>> waiting = List.of(
                    queue("dunning@app-05", "invoice-run"),
                    queue("billing@app-01", "invoice-run"),
                    queue("statements@batch-3", "invoice-run"),
                    queue("importer@app-08", "import/eu-west"),
                    queue("audit@batch-2", ThreeProcesses.NAMES.get(0)));
            browser.open(server.newLink());
            browser.awaitText("3 threads wait for each other");
            for (String view : List.of("", "lock/invoice-run", "blocking", "sessions")) {
                browser.view(view);
                browser.awaitText("invoice-run");
                pictures(view);
            }
            browser.view("lock/invoice-run");
            browser.awaitText("Month end November");
            browser.type("f");
            browser.awaitText("Until then both may work at once.");
            browser.checkAccessibility("the forced release");
            browser.press("Escape", 27);
            browser.type("?");
            browser.awaitText("Next and previous row");
            browser.checkAccessibility("the keys");
            hold.close();
            other.close();
            threads.release();
            waiting.forEach(CompletableFuture::join);
        }
    }
}
