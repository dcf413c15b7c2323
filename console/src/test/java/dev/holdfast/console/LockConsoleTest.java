package dev.holdfast.console;

import static dev.holdfast.console.Records.START;
import static dev.holdfast.console.Records.TTL;
import static dev.holdfast.console.Records.holder;
import static dev.holdfast.console.Records.mutex;
import static dev.holdfast.console.Records.waiter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.DamagedLock;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The console")
class LockConsoleTest {

    private static final Map<String, String> RELEASE = Map.of("name", "a", "token", "5");

    private final ScriptedAdmin store = new ScriptedAdmin();
    private final ManualClock clock = new ManualClock();
    private final List<String> audited = new ArrayList<>();
    private boolean readOnly;
    private final LockConsole console = console("");

    private LockConsole console(String prefix) {
        return LockConsole.builder(() -> Optional.of(store.admin()))
                .store("sqlite", "/tmp/locks")
                .version("1.2")
                .prefix(prefix)
                .readOnly(() -> readOnly)
                .audit(audited::add)
                .clock(clock)
                .build();
    }

    @AfterEach
    void close() {
        console.close();
    }

    private String get(String path, String... parameters) {
        return answer(200, path, parameters);
    }

    private String answer(int status, String path, String... parameters) {
        Map<String, String> map = new java.util.TreeMap<>();
        for (int i = 0; i < parameters.length; i += 2) {
            map.put(parameters[i], parameters[i + 1]);
        }
        ConsoleAnswer answer = console.get(path, map);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        return answer.text();
    }

    private void awaitPoll() throws InterruptedException {
        long before = console.awaitChange(0, Duration.ZERO);
        assertThat(console.awaitChange(before, Duration.ofSeconds(20))).isGreaterThan(before);
        before = console.awaitChange(0, Duration.ZERO);
        assertThat(console.awaitChange(before, Duration.ofSeconds(20))).isGreaterThan(before);
    }

    @Test
    @DisplayName("shows an empty store")
    void empty() {
        assertThat(get("api/overview"))
                .contains("\"version\":\"1.2\"", "\"readOnly\":false", "\"kind\":\"sqlite\"", "\"state\":\"up\"")
                .contains("\"locks\":0", "\"findings\":[]", "\"complete\":true");
        assertThat(get("api/locks")).contains("\"total\":0", "\"locks\":[]");
    }

    @Test
    @DisplayName("shows holders and waiters, with tokens and claims as text")
    void locks() {
        store.put(mutex("a", List.of(holder("p", 9_007_199_254_740_993L, TTL)), List.of(waiter("q", 7))));
        assertThat(get("api/locks"))
                .contains("\"name\":\"a\"", "\"token\":\"9007199254740993\"", "\"label\":\"p\"", "\"waiting\":1");
        assertThat(get("api/lock", "name", "a"))
                .contains("\"queue\":[{\"label\":\"q\"", "\"claim\":\"7\"", "\"why\":\"a has been held by p for 0 ms")
                .contains("1 claim waits, the first, q");
        assertThat(get("api/sessions")).contains("\"total\":2", "\"holds\":[\"a\"]", "\"waits\":[\"a\"]");
        assertThat(get("api/blocking", "least", "0"))
                .contains("\"roots\":[{\"label\":\"p\"", "\"behind\":1", "\"waits\":\"a\"");
        assertThat(get("api/state", "view", "lock", "name", "a"))
                .contains("\"overview\":{", "\"view\":{\"name\":\"a\"");
    }

    @Test
    @DisplayName("says that it knows nothing of a name")
    void unknown() {
        assertThat(answer(404, "api/lock", "name", "x")).contains("unknown-name");
        assertThat(get("api/state", "view", "lock", "name", "x")).doesNotContain("\"view\"");
        assertThat(answer(404, "api/nothing")).contains("not-found");
    }

    @ParameterizedTest
    @DisplayName("escapes what is not plain text in JSON")
    @ValueSource(strings = {"<script>alert(1)</script>", "a\nb", "\u202egnp.exe", "\"quoted\\\"", "\u2028"})
    void markup(String name) {
        store.put(mutex(name, List.of(holder(name, 5, TTL)), List.of()));
        String json = get("api/locks");
        assertThat(json).matches("[\\x20-\\x7e]*");
        assertThat(json.replaceAll("\\\\u([0-9a-f]{4})", "")).doesNotContain("\u202e", "\n");
    }

    @ParameterizedTest
    @DisplayName("refuses parameters that are out of range")
    @CsvSource({"limit, 0", "limit, 501", "limit, x", "offset, -1", "sort, size", "show, none"})
    void badParameters(String name, String value) {
        assertThat(answer(400, "api/locks", name, value)).contains("'" + name + "'");
    }

    @Test
    @DisplayName("refuses names that no lock can have, before it asks the store")
    void hugeNames() {
        assertThat(answer(400, "api/lock", "name", "ä".repeat(300))).contains("600");
        assertThat(answer(400, "api/lock", "name", " ")).contains("blank");
        assertThat(answer(400, "api/lock", "name", "x".repeat(100_000))).contains("1024");
        assertThat(store.requests).isEmpty();
    }

    @Test
    @DisplayName("filters, sorts and cuts")
    void pages() {
        for (int i = 0; i < 300; i++) {
            String name = "order/%03d".formatted(i);
            store.put(mutex(name, i % 3 == 0 ? List.of(holder("p" + i, i + 1, TTL)) : List.of(), List.of()));
        }
        assertThat(get("api/locks", "sort", "name", "desc", "false", "offset", "100", "limit", "2"))
                .contains("\"total\":300", "order/100", "order/101")
                .doesNotContain("order/099", "order/102");
        assertThat(get("api/locks", "show", "held")).contains("\"total\":100");
        assertThat(get("api/locks", "show", "waited")).contains("\"total\":0");
        assertThat(get("api/locks", "q", "P297")).contains("\"total\":1", "order/297");
        assertThat(get("api/locks", "offset", "900")).contains("\"total\":300", "\"locks\":[]");
    }

    @Test
    @DisplayName("finds a lock that is held much longer than usual, and the sentence about it")
    void heldLong() {
        SeenStore seen = new SeenStore();
        Instant now = START;
        for (int i = 1; i <= 4; i++) {
            seen.readPage(
                    List.of(mutex("a", List.of(holder("p", i, TTL, now)), List.of())), List.of(), true, true, now);
            now = now.plusSeconds(5);
            seen.readPage(List.of(mutex("a", List.of(), List.of())), List.of(), true, true, now);
        }
        Instant stuck = now;
        for (int second = 0; second <= 120; second++) {
            now = stuck.plusSeconds(second);
            Duration left = TTL.minusSeconds(second % 10);
            seen.readPage(
                    List.of(mutex("a", List.of(holder("q", 9, left, stuck)), List.of(waiter("r", 10)))),
                    List.of(),
                    true,
                    true,
                    now);
        }
        Views views = new Views(seen, now);
        assertThat(views.overview().toString())
                .contains("a is held by q, 24 times as long as usual. 1 claim waits behind it");
        assertThat(views.locks(new ViewQuery(Map.of())).toString()).contains("\"kind\":\"long\",\"times\":24");
    }

    @Test
    @DisplayName("finds a session that has fallen silent, and its loss")
    void silent() {
        SeenStore seen = new SeenStore();
        for (int second = 0; second <= 29; second++) {
            seen.readPage(
                    List.of(mutex("a", List.of(holder("p", 5, TTL.minusSeconds(second))), List.of())),
                    List.of(),
                    true,
                    true,
                    START.plusSeconds(second));
        }
        assertThat(new Views(seen, START.plusSeconds(29)).overview().toString())
                .contains("p has sent no keep-alive for 29 s. a ends in 1 s unless it returns", "\"silentSessions\":1");
        Instant later = START.plusSeconds(31);
        seen.readPage(List.of(), List.of(), true, true, later);
        assertThat(new Views(seen, later).overview().toString())
                .contains("p lost a because its lease expired (token 5)", "\"lostLastHour\":1");
    }

    @Test
    @DisplayName("finds a silent session that waits for another lock, or only waits")
    void silentWaiter() {
        SeenStore seen = new SeenStore();
        for (int second = 0; second <= 20; second++) {
            Duration left = TTL.minusSeconds(second);
            seen.readPage(
                    List.of(
                            mutex("a", List.of(holder("p", 5, left)), List.of()),
                            mutex(
                                    "b",
                                    List.of(),
                                    List.of(
                                            new LockInfo.Waiter("p", "s-p", 7, 1, left, TTL, null),
                                            new LockInfo.Waiter("q", "s-q", 8, 1, left, TTL, null),
                                            new LockInfo.Waiter("r", "s-r", 9, 1, TTL, TTL, null)))),
                    List.of(),
                    true,
                    true,
                    START.plusSeconds(second));
        }
        assertThat(new Views(seen, START.plusSeconds(20)).overview().toString())
                .contains("p has sent no keep-alive for 20 s. a ends in 10 s unless it returns")
                .contains("\"silentSessions\":2");
    }

    @Test
    @DisplayName("sees one forced release, also if a page that was asked for before it arrives after it")
    void pageFromBeforeARelease() {
        SeenStore seen = new SeenStore();
        LockInfo held = mutex("a", List.of(holder("p", 5, TTL)), List.of());
        LockInfo free = mutex("a", List.of(), List.of());
        seen.readPage(List.of(held), List.of(), true, true, START);
        seen.asking();
        seen.force("a", 5);
        seen.readApart("a", free, START.plusSeconds(1));
        seen.readPage(List.of(held), List.of(), true, true, START.plusSeconds(2));
        seen.asking();
        seen.readPage(List.of(free), List.of(), true, true, START.plusSeconds(3));
        assertThat(seen.losses())
                .singleElement()
                .satisfies(lost -> assertThat(lost.hold().end()).isEqualTo(SeenHold.End.FORCED));
        assertThat(seen.lock("a").ended()).hasSize(1);
    }

    @Test
    @DisplayName("keeps what is damaged until the next walk over all names has ended")
    void damagedDuringAWalk() {
        SeenStore seen = new SeenStore();
        DamagedLock damaged = new DamagedLock("a", "no checksum");
        seen.readPage(List.of(), List.of(damaged), true, true, START);
        seen.readPage(List.of(), List.of(), true, false, START);
        assertThat(seen.damaged()).containsExactly(damaged);
        seen.readPage(List.of(), List.of(), false, true, START);
        assertThat(seen.damaged()).isEmpty();
    }

    @Test
    @DisplayName("shows since when a store is away that has never answered")
    void neverAnswered() {
        SeenStore seen = new SeenStore();
        assertThat(new Views(seen, START)
                        .summary(LockTable.Request.of(new ViewQuery(Map.of())))
                        .progress())
                .isEqualTo(StoreSummary.Progress.CONNECTING);
        seen.failed("refused", Duration.ofSeconds(1), START);
        assertThat(new Views(seen, START.plusSeconds(9)).overview().toString())
                .contains("\"at\":\"2026-11-27T02:00:00Z\"");
    }

    @Test
    @DisplayName("counts candidates of elections as standing by")
    void standsBy() {
        store.put(Records.of("e", Kind.ELECTION, List.of(holder("p", 1, TTL)), List.of(waiter("q", 2))));
        assertThat(get("api/overview")).contains("\"waiting\":0,").doesNotContain("oldestWait");
        assertThat(get("api/locks")).contains("\"standsBy\":true");
        assertThat(get("api/blocking", "least", "0")).contains("\"roots\":[]");
    }

    @Test
    @DisplayName("releases the hold with the token that was shown, writes an audit line and names the next holder")
    void release() {
        store.put(mutex("a", List.of(holder("p", 5, TTL)), List.of()));
        ConsoleAnswer answer = console.release("tester", RELEASE);
        assertThat(answer.text()).isEqualTo("{\"released\":true}");
        assertThat(store.requests).contains("release a 5");
        assertThat(audited).containsExactly("forced release of a, token 5, by tester: released");
    }

    @Test
    @DisplayName("leaves a newer hold alone")
    void releaseOfAnEndedHold() {
        store.put(mutex("a", List.of(holder("p", 6, TTL)), List.of()));
        ConsoleAnswer answer = console.release("tester", RELEASE);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.text()).contains("hold-ended", "\"holder\":{\"label\":\"p\",\"token\":\"6\"}");
        assertThat(audited).singleElement().asString().contains("had ended");
    }

    @Test
    @DisplayName("releases nothing while it is read-only, whatever the page sends")
    void readOnly() {
        readOnly = true;
        ConsoleAnswer answer = console.release("tester", RELEASE);
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.text()).contains("read-only");
        assertThat(store.requests).isEmpty();
        assertThat(get("api/overview")).contains("\"readOnly\":true");
    }

    @Test
    @DisplayName("says that the outcome of a release is unknown if the store didn't answer")
    void unknownOutcome() {
        store.failure = new StoreUnavailableException("no answer within 10 s", "a", "store", null);
        ConsoleAnswer answer = console.release("tester", RELEASE);
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.text()).contains("store-away", "no answer within 10 s");
        assertThat(audited).singleElement().asString().contains("outcome unknown");
    }

    @Test
    @DisplayName("says that a release has changed nothing if the store could not even be opened")
    void releaseWithoutStore() {
        try (LockConsole closed = LockConsole.builder(() -> {
                    throw new IllegalStateException("connection refused");
                })
                .audit(audited::add)
                .build()) {
            ConsoleAnswer answer = closed.release("tester", RELEASE);
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.text()).contains("\"title\":\"Nothing was changed\"", "connection refused");
        }
        assertThat(audited).containsExactly("forced release of a, token 5, by tester: not sent, connection refused");
    }

    @ParameterizedTest
    @DisplayName("refuses a release without a name, or with a token that can't be")
    @CsvSource({"'', 5", "a, ''", "a, -5", "a, 0", "a, x", "a, 9223372036854775808"})
    void badRelease(String name, String token) {
        assertThat(console.release("tester", Map.of("name", name, "token", token))
                        .status())
                .isEqualTo(400);
        assertThat(console.release("tester", Map.of()).status()).isEqualTo(400);
        assertThat(store.requests).isEmpty();
        assertThat(audited).isEmpty();
    }

    @ParameterizedTest
    @DisplayName("reads only objects of strings")
    @ValueSource(
            strings = {
                "",
                "[]",
                "{",
                "{\"a\"}",
                "{\"a\":5}",
                "{\"a\":null}",
                "{\"a\":{}}",
                "{\"a\":\"b\",}",
                "{\"a\":\"b\"",
                "{\"a\":\"b\",\"a\":\"c\"}",
                "{\"a\":\"b\"} x",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12\"}",
                "{\"a\":\"b"
            })
    void badInput(String body) {
        assertThatThrownBy(() -> JsonInput.object(body)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("reads all escapes of JSON")
    void escapes() {
        assertThat(JsonInput.object(" { \"a\" : \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\" , \"b\":\"\" } "))
                .isEqualTo(Map.of("a", "\"\\/\b\f\n\r\tä", "b", ""));
        assertThat(JsonInput.object("{}")).isEmpty();
    }

    @Test
    @DisplayName("shows the last state of a store that is unreachable, and recovers")
    void away() throws InterruptedException {
        store.put(mutex("a", List.of(holder("p", 5, TTL)), List.of()));
        assertThat(get("api/overview")).contains("\"state\":\"up\"");
        store.failure = new StoreUnavailableException("timed out", "a", "store", null);
        awaitPoll();
        assertThat(get("api/overview")).contains("\"state\":\"away\"", "\"problem\":\"timed out\"", "\"locks\":1");
        store.failure = null;
        awaitPoll();
        assertThat(get("api/overview")).contains("\"state\":\"up\"").doesNotContain("problem");
    }

    @Test
    @DisplayName("shows a fresh state to the first viewer after a time without any")
    void viewedAgain() {
        store.put(mutex("a", List.of(holder("p", 5, TTL)), List.of()));
        assertThat(get("api/locks")).contains("\"label\":\"p\"");
        clock.advance(StorePoller.VIEWER_STAYS.plusMillis(1));
        Instant deadline = Instant.now().plusSeconds(20);
        while (console.isPolling() && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
        }
        store.put(mutex("a", List.of(holder("q", 6, TTL)), List.of()));
        assertThat(get("api/locks")).contains("\"label\":\"q\"");
    }

    @Test
    @DisplayName("shares one answer among the viewers of a view")
    void shared() {
        store.put(mutex("a", List.of(), List.of()));
        ConsoleAnswer first = console.get("api/locks", Map.of());
        ConsoleAnswer second = console.get("api/locks", Map.of());
        // Between the two, a poll may have brought a newer state.
        assertThat(second == first || !second.text().equals(first.text())).isTrue();
    }

    @Test
    @DisplayName("shows the names of one client without its prefix, and releases with it")
    void prefix() {
        LockInfo.Holder holder = Records.blocked("p", 5, Records.wait(1, "app:c"), Records.wait(2, "other:secret"));
        store.put(mutex("app:a", List.of(holder), List.of()));
        store.put(mutex("other:b", List.of(holder("p", 6, TTL)), List.of()));
        try (LockConsole prefixed = console("app:")) {
            assertThat(prefixed.get("api/locks", Map.of()).text())
                    .contains("\"name\":\"a\"", "\"total\":1", "\"waitsFor\":\"c\"")
                    .doesNotContain("other", "app:");
            assertThat(prefixed.get("api/lock", Map.of("name", "a")).status()).isEqualTo(200);
            assertThat(prefixed.release("tester", RELEASE).status()).isEqualTo(200);
        }
        assertThat(store.requests).contains("release app:a 5");
    }
}
