package dev.holdfast.cli.browser;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

/** A tab of a browser. */
final class Tab implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");

    private final WebSocket socket;
    private final AtomicInteger number = new AtomicInteger();
    private final Map<Integer, CompletableFuture<String>> replies = new ConcurrentHashMap<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private volatile boolean requestsMayFail;

    Tab(URI page, HttpClient client) {
        socket = client.newWebSocketBuilder().buildAsync(page, new Listener()).join();
        call("Runtime.enable", "");
        call("Log.enable", "");
        call("Page.enable", "");
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
        } else if (isProblem(message) && !(requestsMayFail && message.contains("\"Failed to load resource: "))) {
            problems.add(message);
        }
    }

    private static boolean isProblem(String message) {
        return message.contains("\"Runtime.exceptionThrown\"")
                || message.contains("\"Log.entryAdded\"") && message.contains("\"level\":\"error\"")
                || message.contains("\"Runtime.consoleAPICalled\"") && message.contains("\"type\":\"error\"");
    }

    private CompletableFuture<String> send(String method, String parameters) {
        int id = number.incrementAndGet();
        CompletableFuture<String> reply = new CompletableFuture<>();
        replies.put(id, reply);
        socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{" + parameters + "}}", true)
                .join();
        return reply;
    }

    @CanIgnoreReturnValue
    private String call(String method, String parameters) {
        try {
            return send(method, parameters).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
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
    @CanIgnoreReturnValue
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

    /** Goes to a view by its path. */
    void view(String path) {
        eval("(location.hash = " + quoted("#/" + path) + ", 1)");
    }

    /** Fails if the page breaks a rule of accessibility. */
    void checkAccessibility(String state) {
        if (!eval("typeof axe").equals("object")) {
            // By the protocol: the policy of the page would refuse a script from elsewhere.
            call("Runtime.evaluate", "\"expression\":" + quoted(Axe.SCRIPT));
        }
        String found = eval("axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a',"
                + " 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(r => r.violations.map(v =>"
                + " v.id + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join('; ')).join('\\n'))");
        if (!found.isEmpty()) {
            throw new AssertionError("Accessibility of " + state + ":\n" + found);
        }
    }

    /** The checks of axe-core. */
    private static final class Axe {
        static final String SCRIPT = script();

        private Axe() {}

        private static String script() {
            try (InputStream in = Axe.class.getClassLoader().getResourceAsStream("axe.min.js")) {
                return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
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

    /** From now on, failed requests are no problems of the page. The browser logs them some time after their answer. */
    void expectFailedRequests() {
        requestsMayFail = true;
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

    /** Closes the tab, which must have logged no problem. */
    @Override
    public void close() {
        var unused = send("Page.close", ""); // may close the connection before it replies
        socket.abort();
        if (!problems.isEmpty()) {
            throw new AssertionError("The page has problems: " + problems);
        }
    }
}
