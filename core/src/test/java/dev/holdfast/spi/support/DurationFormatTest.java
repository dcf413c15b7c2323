package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationFormatTest {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 s",
        "PT0.000000001S, 1 ns",
        "PT0.00025S, 0.25 ms",
        "PT0.199999999S, 199.999999 ms",
        "PT0.5S, 500 ms",
        "PT1S, 1 s",
        "PT1.25S, 1.25 s",
        "PT3.749533185S, 3.7 s",
        "PT10S, 10 s",
        "PT1M, 1 min",
        "PT1M30S, 1 min 30 s",
        "PT1M0.001S, 1 min 1 ms",
        "PT2H5M, 2 h 5 min",
        "PT25H, 25 h",
        "PT72H, 3 d",
        "PT876000H, 100 years",
        "PT-5S, -5 s"
    })
    void isAsPeopleWriteIt(String duration, String text) {
        assertThat(DurationFormat.format(Duration.parse(duration))).isEqualTo(text);
    }
}
