package dev.holdfast.console.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.console.LockConsole;
import dev.holdfast.console.ManualClock;
import dev.holdfast.console.PageFile;
import dev.holdfast.console.ScriptedAdmin;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The server of the console")
class ConsoleServerTest {

    private static final String RELEASE = "{\"name\":\"a\",\"token\":\"5\"}";

    private final ScriptedAdmin store = new ScriptedAdmin();
    private final ManualClock clock = new ManualClock();
    private volatile boolean readOnly;
    private final LockConsole console = LockConsole.builder(() -> Optional.of(store.admin()))
            .readOnly(() -> readOnly)
            .streaming()
            .build();
    private ConsoleServer server;

    /** The connections of endless answers. The garbage collector would close those that nothing refers to. */
    private final List<Socket> pages = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        server = ConsoleServer.start(console, 0, Set.of("locks.example.com"), clock);
        store.put(new LockInfo(
                "a",
                Kind.MUTEX,
                Order.FAIR,
                1,
                List.of(new LockInfo.Holder(
                        "p", "s", 1, 1, 5, 5, null, Duration.ofSeconds(30), Duration.ofSeconds(30), "", List.of())),
                1,
                1,
                List.of(),
                0,
                5));
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket page : pages) {
            page.close();
        }
        server.close();
        console.close();
    }

    /** Sends a request as it stands; the answer ends with the connection. */
    private String raw(String request) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().flush();
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            try {
                socket.getInputStream().transferTo(answer);
            } catch (SocketException e) {
                // Reset by a server that has answered and did not read the rest.
            }
            return answer.toString(StandardCharsets.UTF_8);
        }
    }

    private String request(String method, String path, String body, String... headers) throws IOException {
        String host =
                Stream.of(headers).anyMatch(header -> header.startsWith("Host:")) ? "" : "Host: " + host() + "\r\n";
        return raw(method + " " + path + " HTTP/1.1\r\n" + host + "Connection: close\r\n"
                + Stream.of(headers).map(header -> header + "\r\n").collect(joining())
                + (body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n") + "\r\n" + body);
    }

    private String get(String path, String... headers) throws IOException {
        return request("GET", path, "", headers);
    }

    private String post(String path, String body, String... headers) throws IOException {
        List<String> all = new ArrayList<>(List.of(headers));
        if (all.stream().noneMatch(header -> header.startsWith("Origin:"))) {
            all.add("Origin: http://" + host());
        }
        if (all.stream().noneMatch(header -> header.startsWith("Content-Type:"))) {
            all.add("Content-Type: application/json");
        }
        return request("POST", path, body, all.toArray(new String[0]));
    }

    private String host() {
        return "127.0.0.1:" + server.port();
    }

    private static int status(String answer) {
        Matcher matcher = Pattern.compile("HTTP/1.1 (\\d+)").matcher(answer);
        assertThat(matcher.lookingAt()).as(answer).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    private String key() {
        String link = server.newLink();
        return link.substring(link.indexOf("#key=") + 5);
    }

    private String login(String key) throws IOException {
        return post("/login", "{\"key\":\"" + key + "\"}");
    }

    /** The header with the cookie of a login. */
    private String cookie() throws IOException {
        Matcher cookie = Pattern.compile("(?i)set-cookie: ([^;]*)").matcher(login(key()));
        assertThat(cookie.find()).isTrue();
        return "Cookie: " + cookie.group(1);
    }

    @Test
    @DisplayName("gives the page and its files to anybody on this machine, and nothing of the store")
    void page() throws IOException {
        String page = get("/");
        assertThat(status(page)).isEqualTo(200);
        assertThat(page).contains("<!doctype html>");
        Matcher files = Pattern.compile("(?:src|href)=\"([\\w/.-]+)\"").matcher(page);
        while (files.find()) {
            assertThat(status(get("/" + files.group(1)))).as(files.group(1)).isEqualTo(200);
        }
        assertThat(store.requests()).isEmpty();
        assertThat(status(get("/module-info.class"))).isEqualTo(404);
        assertThat(status(get("/../console.js"))).isEqualTo(404);
    }

    @ParameterizedTest
    @DisplayName("requires a key for everything else")
    @ValueSource(strings = {"/api/overview", "/api/locks", "/api/lock?name=a", "/api/events?view=locks", "/api/state"})
    void needsKey(String path) throws IOException {
        assertThat(status(get(path))).isEqualTo(401);
        assertThat(status(get(path, "Cookie: holdfast-" + server.port() + "=guess")))
                .isEqualTo(401);
        assertThat(store.requests()).isEmpty();
        assertThat(status(post("/api/release", RELEASE))).isEqualTo(401);
        assertThat(store.requests()).isEmpty();
    }

    @Test
    @DisplayName("exchanges a key once, for a cookie that scripts can't read and other sites can't send")
    void login() throws IOException {
        String key = key();
        assertThat(key).hasSize(43);
        String answer = login(key);
        assertThat(status(answer)).isEqualTo(204);
        assertThat(answer)
                .containsPattern("(?i)set-cookie: holdfast-" + server.port()
                        + "=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200\r");
        assertThat(status(login(key))).isEqualTo(401);
        assertThat(status(get("/api/overview", cookie()))).isEqualTo(200);
    }

    @Test
    @DisplayName("marks the cookie as secure behind TLS")
    void secureCookie() throws IOException {
        String answer = post(
                "/login",
                "{\"key\":\"" + key() + "\"}",
                "Host: locks.example.com",
                "Origin: https://locks.example.com",
                "X-Forwarded-Proto: https");
        assertThat(answer).contains("; Secure\r\n");
    }

    @Test
    @DisplayName("accepts only the newest key, for five minutes")
    void keysEnd() throws IOException {
        String old = key();
        String key = key();
        assertThat(status(login(old))).isEqualTo(401);
        clock.advance(AccessKeys.KEY_LIFE);
        assertThat(status(login(key))).isEqualTo(401);
        assertThat(status(login(key()))).isEqualTo(204);
    }

    @Test
    @DisplayName("accepts a cookie for twelve hours")
    void cookiesEnd() throws IOException {
        String cookie = cookie();
        clock.advance(AccessKeys.COOKIE_LIFE.minusSeconds(1));
        assertThat(status(get("/api/overview", cookie))).isEqualTo(200);
        clock.advance(Duration.ofSeconds(1));
        assertThat(status(get("/api/overview", cookie))).isEqualTo(401);
    }

    @Test
    @DisplayName("stops guesses after five wrong keys in a minute, even for the right one")
    void guesses() throws IOException {
        String key = key();
        for (int i = 0; i < 5; i++) {
            assertThat(status(login("guess" + i))).isEqualTo(401);
        }
        assertThat(status(login(key))).isEqualTo(429);
        clock.advance(Duration.ofSeconds(61));
        assertThat(status(login(key))).isEqualTo(204);
    }

    @ParameterizedTest
    @DisplayName("refuses names of other hosts, as after a change of a DNS record")
    @ValueSource(
            strings = {"evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example", "locks.example.com:80", ""
            })
    void otherHosts(String host) throws IOException {
        String cookie = cookie();
        for (String path : List.of("/", "/console.js", "/api/overview")) {
            String answer = get(path, "Host: " + host, cookie);
            assertThat(status(answer)).isEqualTo(421);
            assertThat(answer).doesNotContain("<!doctype");
        }
    }

    @Test
    @DisplayName("refuses a request without a host, or with two")
    void doubtfulHosts() throws IOException {
        assertThat(status(raw("GET / HTTP/1.0\r\n\r\n"))).isEqualTo(421);
        assertThat(status(get("/", "Host: " + host(), "Host: evil.example"))).isEqualTo(421);
    }

    @ParameterizedTest
    @DisplayName("answers under each name of this machine, and that of the proxy")
    @ValueSource(strings = {"127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "locks.example.com"})
    void ownHosts(String host) throws IOException {
        assertThat(status(get("/", "Host: " + host.replace("PORT", Integer.toString(server.port())))))
                .isEqualTo(200);
    }

    @ParameterizedTest
    @DisplayName("refuses requests that other pages send")
    @CsvSource({
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: https://HOST",
        "Origin: http://HOST.evil.example",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: none"
    })
    void forgeries(String header) throws IOException {
        String cookie = cookie();
        String answer = post("/api/release", RELEASE, cookie, header.replace("HOST", host()));
        assertThat(status(answer)).isEqualTo(403);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("release"));
    }

    @ParameterizedTest
    @DisplayName("refuses data, not the page, to other sites")
    @CsvSource({"cross-site, 403", "same-site, 403", "same-origin, 200", "none, 200"})
    void otherSites(String site, int status) throws IOException {
        String header = "Sec-Fetch-Site: " + site;
        assertThat(status(get("/api/locks", cookie(), header))).isEqualTo(status);
        assertThat(status(get("/", header))).isEqualTo(200);
    }

    @Test
    @DisplayName("refuses forms and requests without an origin")
    void forms() throws IOException {
        String cookie = cookie();
        assertThat(status(request("POST", "/api/release", RELEASE, cookie, "Content-Type: application/json")))
                .isEqualTo(403);
        assertThat(status(post("/api/release", RELEASE, cookie, "Content-Type: text/plain")))
                .isEqualTo(415);
        assertThat(status(post("/api/release", RELEASE, cookie, "Content-Type: application/x-www-form-urlencoded")))
                .isEqualTo(415);
        assertThat(status(get("/api/release?name=a&token=5", cookie))).isEqualTo(404);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("release"));
        assertThat(status(post("/api/release", RELEASE, cookie, "Sec-Fetch-Site: same-origin")))
                .isEqualTo(200);
        assertThat(store.requests()).contains("release a 5");
    }

    @ParameterizedTest
    @DisplayName("answers no other methods")
    @ValueSource(strings = {"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"})
    void methods(String method) throws IOException {
        assertThat(status(request(method, "/api/overview", "", cookie()))).isEqualTo(405);
    }

    @Test
    @DisplayName("enforces read-only itself")
    void readOnly() throws IOException {
        readOnly = true;
        assertThat(status(post("/api/release", RELEASE, cookie()))).isEqualTo(403);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("release"));
    }

    @Test
    @DisplayName("sends a policy without inline code, with every answer")
    void headers() throws IOException {
        for (String answer :
                List.of(get("/"), get("/console.js"), get("/api/overview"), get("/x"), get("/", "Host: x"))) {
            assertThat(answer)
                    .containsIgnoringCase("Content-Security-Policy: " + PageFile.CONTENT_SECURITY_POLICY)
                    .containsIgnoringCase("X-Content-Type-Options: nosniff")
                    .containsIgnoringCase("Referrer-Policy: no-referrer")
                    .containsIgnoringCase("Cross-Origin-Opener-Policy: same-origin")
                    .doesNotContain("Access-Control-Allow");
        }
        assertThat(PageFile.CONTENT_SECURITY_POLICY)
                .startsWith("default-src 'none'")
                .doesNotContain("unsafe", "*", "http:");
        assertThat(get("/api/overview", cookie())).containsIgnoringCase("Cache-Control: no-store");
    }

    @Test
    @DisplayName("limits the size of bodies and addresses")
    void sizes() throws IOException {
        String cookie = cookie();
        String body = "{\"name\":\"" + "x".repeat(RequestCheck.MAX_BODY) + "\",\"token\":\"5\"}";
        assertThat(status(post("/api/release", body, cookie))).isEqualTo(413);
        assertThat(status(post("/login", body))).isEqualTo(413);
        assertThat(status(get("/api/lock?name=" + "x".repeat(9_000), cookie))).isEqualTo(414);
        assertThat(store.requests()).noneMatch(request -> request.startsWith("release"));
    }

    @Test
    @DisplayName("refuses parameters and bodies that can't be read, with a reason")
    void malformed() throws IOException {
        String cookie = cookie();
        assertThat(get("/api/locks?limit=0", cookie)).contains("HTTP/1.1 400", "'limit'");
        assertThat(get("/api/lock?name=%zz", cookie)).doesNotContain("HTTP/1.1 200");
        assertThat(status(post("/api/release", "{", cookie))).isEqualTo(400);
        assertThat(status(post("/login", "key"))).isEqualTo(400);
    }

    @Test
    @DisplayName("sends the state as events, and ends a stream when its cookie does")
    void events() throws IOException {
        String cookie = cookie();
        try (Stream<String> lines = open("/api/events?view=lock&name=a", cookie)) {
            List<String> events = lines.filter(line -> !line.isEmpty())
                    .peek(line -> {
                        if (line.startsWith("data:")) {
                            clock.advance(AccessKeys.COOKIE_LIFE);
                        }
                    })
                    .toList();
            assertThat(events).contains("event: state").anyMatch(line -> line.startsWith("data: {\"overview\":{"));
            assertThat(events).filteredOn(line -> line.startsWith("data:")).hasSize(1);
        }
    }

    @Test
    @DisplayName("has fifty streams at most, and answers further pages meanwhile")
    void streams() throws IOException {
        String cookie = cookie();
        for (int i = 0; i < 50; i++) {
            assertThat(open("/api/events?view=locks", cookie).findFirst()).isPresent();
        }
        assertThat(status(get("/api/events?view=locks", cookie))).isEqualTo(503);
        assertThat(status(get("/api/overview", cookie))).isEqualTo(200);
        server.close();
    }

    /** The lines of an endless answer, after its headers. */
    private Stream<String> open(String path, String cookie) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.port());
        pages.add(socket);
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nConnection: close\r\nHost: " + host() + "\r\n" + cookie
                                + "\r\n\r\n")
                        .getBytes(StandardCharsets.UTF_8));
        BufferedReader reader =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null && !line.isEmpty(); line = reader.readLine()) {
            assertThat(line).doesNotStartWith("HTTP/1.1 5");
        }
        return reader.lines();
    }

    @Test
    @DisplayName("listens at the loopback address only")
    void loopback() throws IOException {
        assertThat(server.newLink()).startsWith("http://127.0.0.1:" + server.port() + "/#key=");
        for (InetAddress address : NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress())
                .toList()) {
            assertThatThrownBy(() -> {
                        try (Socket socket = new Socket()) {
                            socket.connect(new InetSocketAddress(address, server.port()), 2_000);
                        }
                    })
                    .as(address.toString())
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    @DisplayName("compresses the page, and sends it again only if it has changed")
    void files() throws IOException {
        assertThat(get("/console.css", "Accept-Encoding: gzip, br")).containsIgnoringCase("Content-Encoding: gzip");
        String tag = PageFile.named("console.css").orElseThrow().tag();
        assertThat(status(get("/console.css", "If-None-Match: " + tag))).isEqualTo(304);
    }
}
