package dev.holdfast.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.console.StoreSummary;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The screen of holdfast top")
class TopScreenTest {

    private static StoreSummary.Lock lock(String name, String holder, String mark) {
        return new StoreSummary.Lock(
                name,
                "mutex",
                holder,
                Optional.of(Duration.ofMinutes(18)),
                Optional.of(Duration.ofSeconds(29)),
                false,
                11,
                Optional.of(Duration.ofMinutes(17)),
                660,
                mark);
    }

    private static StoreSummary summary(Optional<String> problem, List<String> findings, StoreSummary.Lock... locks) {
        return new StoreSummary(
                StoreSummary.Progress.COMPLETE,
                Instant.parse("2026-11-27T02:16:40Z"),
                problem,
                Duration.ofNanos(2_100_000),
                17,
                28,
                findings,
                locks.length,
                List.of(locks));
    }

    private static List<String> draw(int width, int height, StoreSummary summary) {
        return new TopScreen(width, height).draw("sqlite /tmp/locks.db", summary, new TopState());
    }

    @Test
    @DisplayName("fits 80 columns and 24 lines")
    void fits() {
        List<String> lines = draw(
                80,
                24,
                summary(
                        Optional.empty(),
                        List.of("Held long: invoice-run is held by billing@app-03", "Silent: x"),
                        lock("invoice-run", "billing@app-03", "11x usual"),
                        lock("gpu", "2 holders", "")));
        assertThat(lines)
                .hasSize(24)
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(80));
        assertThat(lines.get(0))
                .isEqualTo("holdfast top: sqlite /tmp/locks.db, 2.1 ms, 17 held, 28 waiting, 02:16:40 UTC");
        assertThat(lines.get(1)).isEqualTo("! (+1) Held long: invoice-run is held by billing@app-03");
        assertThat(lines.get(2)).contains("LOCK", "HELD BY", "FOR", "LEASE", "WAIT", "vLONGEST", "S/MIN");
        assertThat(lines.get(3)).startsWith("[11x usual] invoic").contains("18m", "29s", " 11 ", "17m", "660");
        assertThat(lines.get(4)).startsWith("gpu ").contains("2 holders");
        assertThat(lines.get(23)).startsWith("1-2 of 2").contains("q quit");
    }

    @ParameterizedTest
    @DisplayName("fits terminals of every size, with names that are long, wide or move the cursor")
    @CsvSource({"1, 1", "40, 5", "80, 24", "132, 50", "300, 100"})
    void fitsAll(int width, int height) {
        List<String> lines = draw(
                width,
                height,
                summary(
                        Optional.of("timed out\u001b[2J\n" + "x".repeat(500)),
                        List.of(),
                        lock("x".repeat(512), "y".repeat(300), "deadlock"),
                        lock("\u001b[31mred\nline", "a\tb", ""),
                        lock("請求書の実行".repeat(20), "📦".repeat(50), "")));
        assertThat(lines).hasSizeLessThanOrEqualTo(Math.max(5, height)).allSatisfy(line -> {
            assertThat(TextWidth.of(line)).isLessThanOrEqualTo(Math.max(40, width));
            assertThat(line).doesNotContain("\u001b", "\n", "\t");
        });
        assertThat(lines.get(1)).startsWith("! timed out");
    }

    @Test
    @DisplayName("says that nothing needs attention, and that a store doesn't answer")
    void states() {
        assertThat(draw(80, 24, summary(Optional.empty(), List.of())).get(1)).isEqualTo("Nothing needs attention.");
        assertThat(draw(80, 24, summary(Optional.of("refused"), List.of())))
                .startsWith("holdfast top: sqlite /tmp/locks.db, NO ANSWER since 02:16:40 UTC", "! refused");
    }

    @Test
    @DisplayName("does not take a store that was not read yet for an empty one")
    void beforeTheFirstAnswer() {
        StoreSummary connecting = summary(StoreSummary.Progress.CONNECTING);
        assertThat(draw(80, 24, connecting))
                .startsWith(
                        "holdfast top: sqlite /tmp/locks.db, no answer yet, 02:16:40 UTC",
                        "Waiting for the first answer of the store.");
        assertThat(draw(120, 24, summary(StoreSummary.Progress.READING)))
                .startsWith(
                        "holdfast top: sqlite /tmp/locks.db, 2.1 ms, 0 held, 0 waiting so far, 02:16:40 UTC",
                        "Nothing needs attention so far.");
    }

    private static StoreSummary summary(StoreSummary.Progress progress) {
        Instant at = Instant.parse("2026-11-27T02:16:40Z");
        return new StoreSummary(
                progress, at, Optional.empty(), Duration.ofNanos(2_100_000), 0, 0, List.of(), 0, List.of());
    }

    private static TopState after(String keys) {
        TopState state = new TopState();
        keys.codePoints().forEach(key -> state.key(key, 20, 100));
        return state;
    }

    @Test
    @DisplayName("is sorted and filtered by keys")
    void keys() {
        assertThat(after("").parameters(20)).containsEntry("sort", "LONG").containsEntry("desc", "true");
        assertThat(after("s").parameters(20)).containsEntry("sort", "HEAT");
        assertThat(after("ss").parameters(20)).containsEntry("sort", "NAME").containsEntry("desc", "false");
        assertThat(after("Sr").parameters(20)).containsEntry("sort", "WAIT").containsEntry("desc", "false");
        assertThat(after("w").parameters(20)).containsEntry("show", "waited");
        assertThat(after("wa").parameters(20)).containsEntry("show", "all");
        assertThat(after("/qä\u007fx\r").parameters(20)).containsEntry("q", "qx");
        assertThat(after("/q").isTyping()).isTrue();
        assertThat(after("/q\u001b").parameters(20)).containsEntry("q", "");
        assertThat(after("/q\r\u001b").parameters(20)).containsEntry("q", "");
        assertThat(after("/q").hasEnded()).isFalse();
        assertThat(after("q").hasEnded()).isTrue();
        assertThat(after("/q\u0003").hasEnded()).isTrue();
        assertThat(after("p").isPaused()).isTrue();
        assertThat(after("p ").isPaused()).isFalse();
        assertThat(after("?").isHelpShown()).isTrue();
        assertThat(after("?x").isHelpShown()).isFalse();
    }

    @Test
    @DisplayName("ends with its input, also while a filter is being typed")
    void endOfInput() {
        for (String keys : List.of("", "/ab", "p")) {
            TopState state = after(keys);
            state.key(TopState.END, 20, 100);
            assertThat(state.hasEnded()).isTrue();
        }
    }

    @Test
    @DisplayName("moves by lines and pages, and not beyond the last")
    void moves() {
        assertThat(after("jjk").offset()).isEqualTo(1);
        assertThat(after("k").offset()).isZero();
        assertThat(after("nn").offset()).isEqualTo(40);
        assertThat(after("nnnnnnn").offset()).isEqualTo(80);
        assertThat(after("nnb").offset()).isEqualTo(20);
        assertThat(after("nns").offset()).isZero();
    }

    @Test
    @DisplayName("gets characters and arrows from the bytes of a terminal")
    void bytes() throws IOException {
        TopKeys keys = new TopKeys(new ByteArrayInputStream(
                "aä📦\u001b[A\u001bOB\u001b[5~\u001b[6~\u001b[1;5C\u001b".getBytes(StandardCharsets.UTF_8)));
        List<Integer> read = new ArrayList<>();
        for (int key = keys.next(); key >= 0; key = keys.next()) {
            read.add(key);
        }
        assertThat(read)
                .containsExactly(
                        (int) 'a',
                        (int) 'ä',
                        "📦".codePointAt(0),
                        TopState.UP,
                        TopState.DOWN,
                        TopState.PAGE_UP,
                        TopState.PAGE_DOWN,
                        0,
                        TopState.ESCAPE);
    }
}
