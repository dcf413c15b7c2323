package dev.holdfast.cli.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

    @ParameterizedTest
    @CsvSource({
        "10s, PT10S",
        "1m30s, PT1M30S",
        "500ms, PT0.5S",
        "1.5s, PT1.5S",
        ".25s, PT0.25S",
        "0.25, PT0.25S",
        "90, PT1M30S",
        "0, PT0S",
        "0ms, PT0S",
        "1d2h3m4s5ms, PT26H3M4.005S",
        "1.5h, PT1H30M",
        "0.000000001s, PT0.000000001S",
        "0.0000000001s, PT0S",
        "1.5ms, PT0.0015S",
        "PT10S, PT10S",
        "pt1m, PT1M",
        "P1D, PT24H",
        "36525d, PT876600H"
    })
    void readsWhatPeopleWrite(String text, String expected) {
        assertThat(DurationText.parse("--wait", text)).isEqualTo(Duration.parse(expected));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "s",
                "10x",
                "10 s",
                "s10",
                "1s1m",
                "1m1m",
                "1m30",
                "10S",
                "1e3",
                "0x10",
                "١s",
                "1..5s",
                ".",
                "+5s",
                "--5s",
                "1000000000000000000s",
                "PT",
                "P",
                "PTxS",
                "infinity",
                "10s "
            })
    void refusesTheRestWithExamples(String text) {
        assertThatThrownBy(() -> DurationText.parse("--wait", text))
                .isInstanceOf(CliException.class)
                .hasMessageStartingWith("--wait takes a duration such as 10s")
                .extracting(e -> ((CliException) e).exitCode())
                .isEqualTo(64);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "-5s", "-0.5s", "PT-10S", "-1m30s"})
    void saysThatANegativeOneIsNegative(String text) {
        assertThatThrownBy(() -> DurationText.parse("--lease", text))
                .hasMessageContaining("--lease must not be negative");
    }

    @Test
    void hasAnEnd() {
        assertThatThrownBy(() -> DurationText.parse("--wait", "36526d")).hasMessageContaining("at most 100 years");
    }

    @Test
    void showsControlCharactersHarmlessly() {
        assertThatThrownBy(() -> DurationText.parse("--wait", "1\u001b[2J")).hasMessageContaining("1\\u001b[2J");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0ms",
        "80, 80ms",
        "999, 999ms",
        "1000, 1s",
        "1540, 1.5s",
        "9999, 9.9s",
        "24000, 24s",
        "59999, 59s",
        "60000, 1m",
        "90000, 1m30s",
        "3900000, 1h5m",
        "172800000, 2d",
        "176400000, 2d1h",
        "-5, 0ms"
    })
    void writesWhatMatters(long millis, String expected) {
        assertThat(DurationText.format(Duration.ofMillis(millis))).isEqualTo(expected);
    }

    @Test
    void readsBackWhatItWrites() {
        for (long millis : new long[] {1, 80, 1_500, 24_000, 90_000, 3_900_000, 176_400_000}) {
            Duration duration = Duration.ofMillis(millis);
            assertThat(DurationText.parse("--wait", DurationText.format(duration)))
                    .isEqualTo(duration);
        }
    }
}
