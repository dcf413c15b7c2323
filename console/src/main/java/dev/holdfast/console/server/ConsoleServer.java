package dev.holdfast.console.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.console.ConsoleAnswer;
import dev.holdfast.console.JsonInput;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.PageFile;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Serves a {@link LockConsole} on the loopback address of this machine, to those who have its key.
 *
 * <p>The key is for one login within five minutes; the cookie that it is exchanged for ends with this server, at the
 * latest after twelve hours. Other machines can't connect: use a tunnel of SSH with the same port at both ends, or a
 * proxy on this machine that authenticates.
 *
 * <p>At most 64 connections and 50 streams are served at a time, bodies may have 8 kB, and a request must arrive within
 * ten seconds. These limits are system properties of the JDK's server, which this class sets for the process unless
 * they are set already.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ConsoleServer implements AutoCloseable {

    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_STREAMS = 50;
    private static final int BACKLOG = 50;

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy", PageFile.CONTENT_SECURITY_POLICY,
            "X-Content-Type-Options", "nosniff",
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Opener-Policy", "same-origin",
            "Cross-Origin-Resource-Policy", "same-origin");

    static {
        limit("sun.net.httpserver.maxReqTime", "10");
        limit("sun.net.httpserver.maxReqHeaders", "60");
        limit("sun.net.httpserver.maxReqHeaderSize", "16384");
        limit("jdk.httpserver.maxConnections", Integer.toString(MAX_CONNECTIONS));
        limit("sun.net.httpserver.nodelay", "true");
    }

    private final LockConsole console;
    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final AccessKeys keys;
    private final RequestCheck check;
    private final String cookieName;
    private final Semaphore streams = new Semaphore(MAX_STREAMS);
    private final AtomicInteger requests = new AtomicInteger();
    private volatile boolean closed;

    private ConsoleServer(LockConsole console, HttpServer server, Set<String> proxyHosts, Clock clock) {
        this.console = console;
        this.server = server;
        keys = new AccessKeys(clock);
        check = new RequestCheck(port(), proxyHosts);
        cookieName = "holdfast-" + port();
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                MAX_CONNECTIONS, MAX_CONNECTIONS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "holdfast-console-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(threads);
        var unused = server.createContext("/", this::handle);
    }

    private static void limit(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /**
     * Starts a server.
     *
     * @param port the port; 0 for any free one
     * @param proxyHosts names under which a proxy on this machine is reached, as in the header Host
     * @throws IOException if the port can't be used
     */
    public static ConsoleServer start(LockConsole console, int port, Set<String> proxyHosts) throws IOException {
        return start(console, port, proxyHosts, Clock.systemUTC());
    }

    static ConsoleServer start(LockConsole console, int port, Set<String> proxyHosts, Clock clock) throws IOException {
        Set<String> names =
                proxyHosts.stream().map(name -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
        HttpServer http = HttpServer.create(new InetSocketAddress(loopback(), port), BACKLOG);
        ConsoleServer server = new ConsoleServer(console, http, names, clock);
        http.start();
        return server;
    }

    /** By its numbers, so that no host file or resolver can make it another address. */
    private static InetAddress loopback() throws IOException {
        return InetAddress.getByAddress("localhost", new byte[] {127, 0, 0, 1});
    }

    /** The port that the server listens at. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** A new link for one login; the one before no longer works. The key is in the fragment, which no log shows. */
    public String newLink() {
        return "http://127.0.0.1:" + port() + "/#key=" + keys.newKey();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            HEADERS.forEach(exchange.getResponseHeaders()::set);
            if (requests.incrementAndGet() > MAX_CONNECTIONS) {
                send(exchange, busy());
                return;
            }
            Optional<ConsoleAnswer> refusal = check.refuse(
                    exchange.getRequestMethod(), exchange.getRequestURI().toString(), exchange.getRequestHeaders());
            if (refusal.isPresent()) {
                send(exchange, refusal.get());
            } else {
                answerChecked(exchange);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            requests.decrementAndGet();
        }
    }

    private void answerChecked(HttpExchange exchange) throws IOException, InterruptedException {
        try {
            answer(exchange, exchange.getRequestURI().getPath());
        } catch (IllegalArgumentException e) {
            send(exchange, ConsoleAnswer.problem(400, "bad-request", "Bad request", String.valueOf(e.getMessage())));
        }
    }

    private void answer(HttpExchange exchange, String path) throws IOException, InterruptedException {
        boolean isPost = exchange.getRequestMethod().equals("POST");
        String name = path.equals("/") ? "index.html" : path.substring(1);
        Optional<PageFile> file = isPost ? Optional.empty() : PageFile.named(name);
        if (file.isPresent()) {
            send(exchange, file.get());
        } else if (isPost && path.equals("/login")) {
            send(exchange, login(exchange));
        } else if (!path.startsWith("/api/")) {
            send(exchange, ConsoleAnswer.problem(404, "not-found", "Not found", "There is no such page."));
        } else if (!isLoggedIn(exchange)) {
            send(exchange, ConsoleAnswer.problem(401, "key-needed", "Key needed", "Open the link with a new key."));
        } else if (isPost) {
            send(exchange, post(exchange, path));
        } else if (path.equals("/api/events")) {
            stream(exchange);
        } else {
            send(exchange, console.get(name, parameters(exchange)));
        }
    }

    private ConsoleAnswer login(HttpExchange exchange) throws IOException {
        Optional<String> body = body(exchange);
        if (body.isEmpty()) {
            return tooLarge();
        }
        try {
            Optional<String> cookie = keys.exchange(JsonInput.object(body.get()).getOrDefault("key", ""));
            if (cookie.isEmpty()) {
                return ConsoleAnswer.problem(401, "wrong-key", "Wrong key", "It was used, is too old or is wrong.");
            }
            boolean isSecure = "https".equals(exchange.getRequestHeaders().getFirst("X-Forwarded-Proto"));
            exchange.getResponseHeaders()
                    .set(
                            "Set-Cookie",
                            cookieName + "=" + cookie.get() + "; HttpOnly; SameSite=Strict; Path=/; Max-Age="
                                    + AccessKeys.COOKIE_LIFE.toSeconds() + (isSecure ? "; Secure" : ""));
            return new ConsoleAnswer(204, ConsoleAnswer.JSON, new byte[0]);
        } catch (AccessKeys.TooManyAttemptsException e) {
            return ConsoleAnswer.problem(429, "too-many-keys", "Too many wrong keys", "Wait a minute.");
        }
    }

    private ConsoleAnswer post(HttpExchange exchange, String path) throws IOException {
        Optional<String> body = body(exchange);
        if (body.isEmpty()) {
            return tooLarge();
        }
        return path.equals("/api/release")
                ? console.release("console at " + exchange.getRemoteAddress(), JsonInput.object(body.get()))
                : ConsoleAnswer.problem(404, "not-found", "Not found", "There is no such action.");
    }

    private static ConsoleAnswer tooLarge() {
        return ConsoleAnswer.problem(
                413, "too-large", "Too large", "A body may have " + RequestCheck.MAX_BODY + " bytes.");
    }

    private static ConsoleAnswer busy() {
        return ConsoleAnswer.problem(503, "busy", "Busy", "Too many pages are open.");
    }

    /** The body; empty if it is too large. */
    private static Optional<String> body(HttpExchange exchange) throws IOException {
        try (InputStream in = exchange.getRequestBody()) {
            byte[] body = in.readNBytes(RequestCheck.MAX_BODY + 1);
            return body.length > RequestCheck.MAX_BODY
                    ? Optional.empty()
                    : Optional.of(new String(body, StandardCharsets.UTF_8));
        }
    }

    private boolean isLoggedIn(HttpExchange exchange) {
        List<String> headers = exchange.getRequestHeaders().getOrDefault("Cookie", List.of());
        for (String header : headers) {
            for (String cookie : header.split(";", -1)) {
                String text = cookie.strip();
                if (text.startsWith(cookieName + "=") && keys.isValid(text.substring(cookieName.length() + 1))) {
                    return true;
                }
            }
        }
        return false;
    }

    private void stream(HttpExchange exchange) throws IOException, InterruptedException {
        if (!streams.tryAcquire()) {
            send(exchange, busy());
            return;
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            exchange.getResponseHeaders().set("X-Accel-Buffering", "no");
            exchange.sendResponseHeaders(200, 0);
            new EventStream(console, parameters(exchange), exchange.getResponseBody())
                    .send(() -> !closed && isLoggedIn(exchange));
        } finally {
            streams.release();
        }
    }

    private static Map<String, String> parameters(HttpExchange exchange) {
        String query = exchange.getRequestURI().getRawQuery();
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query == null ? new String[0] : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                parameters.put(
                        URLDecoder.decode(pair.substring(0, equals), StandardCharsets.UTF_8),
                        URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return parameters;
    }

    private static void send(HttpExchange exchange, PageFile file) throws IOException {
        exchange.getResponseHeaders().set("Cache-Control", "no-cache");
        exchange.getResponseHeaders().set("ETag", file.tag());
        if (file.tag().equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
            exchange.sendResponseHeaders(304, -1);
            return;
        }
        String accepted = exchange.getRequestHeaders().getFirst("Accept-Encoding");
        boolean isCompressed = accepted != null && accepted.contains("gzip");
        if (isCompressed) {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
        }
        send(exchange, 200, file.contentType(), isCompressed ? file.compressed() : file.body());
    }

    private static void send(HttpExchange exchange, ConsoleAnswer answer) throws IOException {
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        send(exchange, answer.status(), answer.contentType(), answer.body());
    }

    private static void send(HttpExchange exchange, int status, String contentType, byte[] body) throws IOException {
        boolean isEmpty = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
        exchange.getResponseHeaders().set("Content-Type", contentType);
        exchange.sendResponseHeaders(status, isEmpty ? -1 : body.length);
        if (!isEmpty) {
            exchange.getResponseBody().write(body);
        }
    }

    /** Ends all connections. The console is left open. */
    @Override
    public void close() {
        closed = true;
        server.stop(0);
        threads.shutdownNow();
    }
}
