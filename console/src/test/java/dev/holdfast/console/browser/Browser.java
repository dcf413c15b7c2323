package dev.holdfast.console.browser;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A headless Chromium with one page, driven by its DevTools protocol. */
final class Browser implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");
    private static final Pattern SOCKET = Pattern.compile("\"webSocketDebuggerUrl\": *\"(ws://[^\"]*/page/[^\"]*)\"");

    private final Process process;
    private final Path profile;
    private final WebSocket socket;
    private final AtomicInteger number = new AtomicInteger();
    private final Map<Integer, CompletableFuture<String>> replies = new ConcurrentHashMap<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();

    private Browser(Process process, Path profile, URI page, HttpClient client) {
        this.process = process;
        this.profile = profile;
        socket = client.newWebSocketBuilder().buildAsync(page, new Listener()).join();
        call("Runtime.enable", "");
        call("Log.enable", "");
        call("Page.enable", "");
    }

    /** The program: that of {@code HOLDFAST_CHROMIUM}, or one on this machine. */
    static Optional<Path> program() {
        String named = System.getenv("HOLDFAST_CHROMIUM");
        Stream<Path> candidates = named != null
                ? Stream.of(Path.of(named))
                : Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                        .flatMap(folder -> Stream.of("chromium-headless-shell", "chromium", "google-chrome")
                                .map(name -> Path.of(folder, name)));
        return candidates.filter(Files::isExecutable).findFirst();
    }

    static Browser start(Path program) throws IOException, InterruptedException {
        Path profile = Files.createTempDirectory("holdfast-browser");
        Process process = new ProcessBuilder(
                        program.toString(),
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
        Instant deadline = Instant.now().plus(PATIENCE);
        while (!Files.exists(port) || Files.size(port) == 0) {
            if (!process.isAlive() || Instant.now().isAfter(deadline)) {
                throw new IOException("No browser: " + Files.readString(profile.resolve("log")));
            }
            Thread.onSpinWait();
        }
        HttpClient client = HttpClient.newHttpClient();
        String list = client.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                                        + Files.readAllLines(port).get(0) + "/json/list"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
        Matcher page = SOCKET.matcher(list);
        if (!page.find()) {
            throw new IOException("No page: " + list);
        }
        return new Browser(process, profile, URI.create(page.group(1)), client);
    }

    /** Collects replies, and what the page logs or throws. */
    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket source, CharSequence part, boolean isLast) {
            text.append(part);
            if (isLast) {
                receive(text.toString());
                text.setLength(0);
            }
            source.request(1);
            return null;
        }
    }

    private void receive(String message) {
        Matcher id = ID.matcher(message);
        if (id.find()) {
            replies.remove(Integer.parseInt(id.group(1))).complete(message);
        } else if (message.contains("\"Runtime.exceptionThrown\"")
                || message.contains("\"Log.entryAdded\"") && message.contains("\"level\":\"error\"")
                || message.contains("\"Runtime.consoleAPICalled\"") && message.contains("\"type\":\"error\"")) {
            problems.add(message);
        }
    }

    private String call(String method, String parameters) {
        int id = number.incrementAndGet();
        CompletableFuture<String> reply = new CompletableFuture<>();
        replies.put(id, reply);
        socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{" + parameters + "}}", true)
                .join();
        try {
            return reply.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException(method, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void open(String url) {
        call("Page.navigate", "\"url\":" + quoted(url));
    }

    void size(int width, int height, boolean isPhone) {
        call(
                "Emulation.setDeviceMetricsOverride",
                "\"width\":" + width + ",\"height\":" + height + ",\"deviceScaleFactor\":1,\"mobile\":" + isPhone);
    }

    /** Light or dark, as the system asks for. */
    void colours(String scheme) {
        call(
                "Emulation.setEmulatedMedia",
                "\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + scheme + "\"}]");
    }

    /** The value of an expression, as text. */
    String eval(String expression) {
        String reply = call(
                "Runtime.evaluate",
                "\"awaitPromise\":true,\"returnByValue\":true,\"expression\":"
                        + quoted("(async () => String(await (" + expression + ")))()"));
        Matcher value = Pattern.compile("\"result\":\\{\"type\":\"string\",\"value\":\"((?:[^\"\\\\]|\\\\.)*)\"")
                .matcher(reply);
        if (!value.find()) {
            throw new IllegalStateException(expression + ": " + reply);
        }
        return unquoted(value.group(1));
    }

    /** The text of the page as a person sees it. */
    String text() {
        return eval("document.body.innerText");
    }

    /** Waits until the page shows a text. */
    void awaitText(String expected) {
        // Spaces in numbers and units do not break.
        awaitTrue("!!document.body && document.body.innerText.replace(/[\\u00a0\\u202f]/g, ' ').includes("
                + quoted(expected) + ")");
    }

    void awaitTrue(String condition) {
        Instant deadline = Instant.now().plus(PATIENCE);
        while (!eval(condition).equals("true")) {
            if (Instant.now().isAfter(deadline)) {
                throw new AssertionError(condition + " was never true; the page shows\n" + text() + "\n" + problems);
            }
            eval("new Promise(done => setTimeout(done, 50))");
        }
    }

    /** Presses and releases keys that stand for characters. */
    void type(String text) {
        for (int i = 0; i < text.length(); i++) {
            String key =
                    "\"text\":" + quoted(text.substring(i, i + 1)) + ",\"key\":" + quoted(text.substring(i, i + 1));
            call("Input.dispatchKeyEvent", "\"type\":\"keyDown\"," + key);
            call("Input.dispatchKeyEvent", "\"type\":\"keyUp\"," + key);
        }
    }

    void press(String key, int code) {
        String parameters = "\"key\":\"" + key + "\",\"code\":\"" + key + "\",\"windowsVirtualKeyCode\":" + code
                + (key.equals("Enter") ? ",\"text\":\"\\r\"" : "");
        call("Input.dispatchKeyEvent", "\"type\":\"keyDown\"," + parameters);
        call("Input.dispatchKeyEvent", "\"type\":\"keyUp\"," + parameters);
    }

    void click(String selector) {
        eval("document.querySelector(" + quoted(selector) + ").click()");
    }

    void screenshot(Path file) {
        String reply = call("Page.captureScreenshot", "\"format\":\"png\"");
        Matcher data = Pattern.compile("\"data\":\"([^\"]*)\"").matcher(reply);
        if (!data.find()) {
            throw new IllegalStateException(reply);
        }
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, Base64.getDecoder().decode(data.group(1)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What went wrong in the page: exceptions, errors it logged, and violations of its policy. */
    List<String> problems() {
        return new ArrayList<>(problems);
    }

    void forgetProblems() {
        problems.clear();
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c >= ' ' && c < 0x7f) {
                out.append(c);
            } else {
                out.append("\\u%04x".formatted((int) c));
            }
        }
        return out.append('"').toString();
    }

    private static String unquoted(String text) {
        Matcher escapes = Pattern.compile("\\\\(u([0-9a-fA-F]{4})|.)").matcher(text);
        return escapes.replaceAll(found -> {
            String hex = found.group(2);
            String plain = hex != null
                    ? Character.toString((char) Integer.parseInt(hex, 16))
                    : switch (found.group(1)) {
                        case "n" -> "\n";
                        case "t" -> "\t";
                        case "r" -> "\r";
                        default -> found.group(1);
                    };
            return Matcher.quoteReplacement(plain);
        });
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
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            // A process of the browser may still write; the directory is a temporary one.
        }
    }
}
